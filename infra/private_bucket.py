"""The one way to make a bucket: nobody from outside, TLS only, encrypted, every access logged."""

from collections.abc import Sequence

import aws_cdk as cdk
from aws_cdk import aws_s3 as s3
from constructs import Construct

from infra.config import Config


class PrivateBucket(s3.Bucket):
    """`name` is where its entries stand in the access logs."""

    def __init__(
        self,
        scope: Construct,
        id_: str,
        *,
        config: Config,
        name: str,
        access_logs: "AccessLogs | None",
        lifecycle_rules: Sequence[s3.LifecycleRule],
        versioned: bool = False,
    ) -> None:
        super().__init__(
            scope,
            id_,
            block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
            object_ownership=s3.ObjectOwnership.BUCKET_OWNER_ENFORCED,
            encryption=s3.BucketEncryption.S3_MANAGED,
            enforce_ssl=not config.is_local,  # the emulator speaks plain HTTP on this machine
            versioned=versioned,
            lifecycle_rules=list(lifecycle_rules),
            server_access_logs_bucket=access_logs,
            server_access_logs_prefix=f"{name}/" if access_logs else None,
            removal_policy=cdk.RemovalPolicy.DESTROY if config.is_local else cdk.RemovalPolicy.RETAIN,
        )


class AccessLogs(PrivateBucket):
    """Who read which object: presigned links are used without any function of ours noticing."""

    def __init__(self, scope: Construct, id_: str, *, config: Config) -> None:
        super().__init__(
            scope,
            id_,
            config=config,
            name="access-logs",
            access_logs=None,
            lifecycle_rules=[s3.LifecycleRule(expiration=cdk.Duration.days(config.keep_access_logs_days))],
        )
