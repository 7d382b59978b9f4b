"""The local stack: an AWS emulator with IAM enforced, a real PostgreSQL, the real application deployed into them."""
