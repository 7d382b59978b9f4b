"""Clients of AWS services, one each per process and purpose."""

import os
from functools import cache
from typing import TYPE_CHECKING, Literal

import boto3
from botocore.config import Config

from coatcheck.aws.call_count import counted

if TYPE_CHECKING:
    from types_boto3_dynamodb import DynamoDBClient
    from types_boto3_s3 import S3Client
    from types_boto3_secretsmanager import SecretsManagerClient
    from types_boto3_sqs import SQSClient

PATIENT = Config(connect_timeout=1, read_timeout=5, retries={"mode": "standard", "total_max_attempts": 4})
BRIEF = Config(connect_timeout=1, read_timeout=2, retries={"mode": "standard", "total_max_attempts": 2})
"""For heartbeats, which are better late by one beat than stuck in one."""


@cache
def dynamodb(config: Config = PATIENT) -> "DynamoDBClient":
    return counted(boto3.client("dynamodb", config=config))


@cache
def sqs(config: Config = PATIENT) -> "SQSClient":
    return counted(boto3.client("sqs", config=config))


@cache
def s3() -> "S3Client":
    """For large bodies and presigned links, which need SigV4."""
    # Virtual-host addresses of an endpoint of one's own, such as localhost, often do not resolve.
    style: Literal["path", "virtual"] = "path" if os.environ.get("AWS_ENDPOINT_URL") else "virtual"
    config = Config(
        connect_timeout=2,
        read_timeout=60,
        retries={"mode": "standard", "total_max_attempts": 5},
        signature_version="s3v4",
        s3={"addressing_style": style},
    )
    return counted(boto3.client("s3", config=config))


@cache
def secrets() -> "SecretsManagerClient":
    return counted(boto3.client("secretsmanager", config=PATIENT))
