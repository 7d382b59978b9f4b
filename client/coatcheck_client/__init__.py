"""The client of Coatcheck: its HTTP API, the local stack, and the `coatcheck` command."""
