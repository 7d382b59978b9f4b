"""The bucket of results and of cursors too large for a row."""

import aws_cdk as cdk
from aws_cdk import aws_s3 as s3
from constructs import Construct

from coatcheck.run import settings
from infra.config import Config
from infra.private_bucket import AccessLogs, PrivateBucket
from infra.python_function import PythonFunction

RESULTS = "results/"
CURSORS = "cursors/"


class ResultsBucket(Construct):
    def __init__(self, scope: Construct, id_: str, *, config: Config, access_logs: AccessLogs) -> None:
        super().__init__(scope, id_)
        self.bucket = PrivateBucket(
            self,
            "Bucket",
            config=config,
            name="results",
            access_logs=access_logs,
            versioned=True,
            lifecycle_rules=[
                s3.LifecycleRule(
                    abort_incomplete_multipart_upload_after=cdk.Duration.days(config.keep_results_days),
                    noncurrent_version_expiration=cdk.Duration.days(1),
                ),
                s3.LifecycleRule(prefix=RESULTS, expiration=cdk.Duration.days(config.keep_results_days)),
                s3.LifecycleRule(prefix=CURSORS, expiration=cdk.Duration.days(config.keep_cursors_days)),
            ],
        )

    def let_sign_links(self, function: PythonFunction) -> None:
        """A presigned link can do what its signer can: read results."""
        self._tell(function)
        function.allow("s3:GetObject", "s3:GetObjectVersion", on=[self.bucket.arn_for_objects(f"{RESULTS}*")])
        self._let_miss(function)

    def let_write(self, function: PythonFunction) -> None:
        self._tell(function)
        function.allow(
            "s3:AbortMultipartUpload",
            "s3:GetObject",
            "s3:GetObjectVersion",
            "s3:ListMultipartUploadParts",
            "s3:PutObject",
            on=[self.bucket.arn_for_objects(f"{prefix}*") for prefix in (RESULTS, CURSORS)],
        )
        self._let_miss(function)

    def let_remove(self, function: PythonFunction) -> None:
        """What a cancelled job had begun to write is removed by whoever rings it."""
        self._tell(function)
        # A delete on the condition of an entity tag has to read it.
        function.allow(
            "s3:AbortMultipartUpload",
            "s3:DeleteObject",
            "s3:GetObject",
            on=[self.bucket.arn_for_objects(f"{RESULTS}*")],
        )
        function.allow("s3:ListBucket", "s3:ListBucketMultipartUploads", on=[self.bucket.bucket_arn])

    def _let_miss(self, function: PythonFunction) -> None:
        """Who may not list is told "forbidden" of an object that does not exist, not "not found"."""
        function.allow("s3:ListBucket", on=[self.bucket.bucket_arn])

    def _tell(self, function: PythonFunction) -> None:
        function.tell(**{settings.RESULTS_BUCKET: self.bucket.bucket_name})
