"""The only place with boto3: adapters of the ports."""
