"""The deployment: AWS CDK constructs, one per concern."""
