"""The results bucket on S3."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from coatcheck.aws.errors import code_of, passing_errors
from coatcheck.disposition import attachment
from coatcheck.objects import ObjectExists, PartLost, StoredObject, UploadGone
from coatcheck.store import Unavailable

if TYPE_CHECKING:
    from types_boto3_s3 import S3Client

NONCE = "nonce"


class S3Objects:
    def __init__(self, client: "S3Client", bucket: str) -> None:
        self._client = client
        self._bucket = bucket

    def begin(self, key: str, *, nonce: str, content_type: str) -> str:
        with _errors(key):
            begun = self._client.create_multipart_upload(
                Bucket=self._bucket, Key=key, ContentType=content_type, Metadata={NONCE: nonce}
            )
        return begun["UploadId"]

    def put_part(self, key: str, upload_id: str, number: int, data: bytes) -> str:
        with _errors(key, upload_id):
            part = self._client.upload_part(
                Bucket=self._bucket, Key=key, UploadId=upload_id, PartNumber=number, Body=data
            )
        return part["ETag"]

    def parts(self, key: str, upload_id: str) -> Mapping[int, str]:
        found: dict[int, str] = {}
        with _errors(key, upload_id):
            pages = self._client.get_paginator("list_parts").paginate(Bucket=self._bucket, Key=key, UploadId=upload_id)
            for page in pages:
                found |= {part["PartNumber"]: part["ETag"] for part in page.get("Parts", [])}
        return found

    def complete(self, key: str, upload_id: str, etags: Sequence[tuple[int, str]]) -> None:
        with _errors(key, upload_id):
            self._client.complete_multipart_upload(
                Bucket=self._bucket,
                Key=key,
                UploadId=upload_id,
                MultipartUpload={"Parts": [{"PartNumber": number, "ETag": etag} for number, etag in etags]},
                IfNoneMatch="*",
            )

    def put(self, key: str, data: bytes, *, nonce: str, content_type: str, replacing: str | None = None) -> None:
        condition: dict[str, Any] = {"IfNoneMatch": "*"} if replacing is None else {"IfMatch": replacing}
        with _errors(key):
            self._client.put_object(
                Bucket=self._bucket, Key=key, Body=data, ContentType=content_type, Metadata={NONCE: nonce}, **condition
            )

    def remove(self, prefix: str, before: datetime) -> None:
        bucket = self._bucket
        with passing_errors():
            for page in self._client.get_paginator("list_multipart_uploads").paginate(Bucket=bucket, Prefix=prefix):
                for upload in page.get("Uploads", []):
                    if upload.get("Initiated", before) <= before:  # an emulator may not say when
                        self._abort(upload["Key"], upload["UploadId"])
            for found in self._client.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=prefix):
                for each in found.get("Contents", []):
                    if each["LastModified"] <= before:
                        self._delete(each["Key"], each["ETag"])

    def _delete(self, key: str, etag: str) -> None:
        """That very object: what replaced it since it was listed stays."""
        try:
            with suppress(ObjectExists), _errors(key):
                self._client.delete_object(Bucket=self._bucket, Key=key, IfMatch=etag)
        except ClientError as error:
            if code_of(error) != "NoSuchKey":
                raise

    def _abort(self, key: str, upload_id: str) -> None:
        with suppress(UploadGone), _errors(key, upload_id):
            self._client.abort_multipart_upload(Bucket=self._bucket, Key=key, UploadId=upload_id)

    def head(self, key: str) -> StoredObject | None:
        try:
            with passing_errors():
                found = self._client.head_object(Bucket=self._bucket, Key=key)
        except ClientError as error:
            if code_of(error) in ("404", "NoSuchKey", "NotFound"):
                return None
            raise
        return StoredObject(
            key=key,
            bytes=found["ContentLength"],
            content_type=found["ContentType"],
            nonce=found["Metadata"].get(NONCE, ""),
            etag=found["ETag"],
            version=found.get("VersionId"),
        )

    def get(self, key: str) -> bytes | None:
        try:
            with passing_errors():
                return self._client.get_object(Bucket=self._bucket, Key=key)["Body"].read()
        except ClientError as error:
            if code_of(error) == "NoSuchKey":
                return None
            raise

    def link(self, key: str, version: str | None, file_name: str, *, head: bool, seconds: int) -> str:
        """A presigned link to one version of an object, for GET or HEAD, valid for some seconds."""
        params = {
            "Bucket": self._bucket,
            "Key": key,
            "ResponseContentDisposition": attachment(file_name),
        }
        if version is not None:
            params["VersionId"] = version
        method = "head_object" if head else "get_object"
        return self._client.generate_presigned_url(method, Params=params, ExpiresIn=seconds)


@contextmanager
def _errors(key: str, upload_id: str = "") -> Iterator[None]:
    """S3's refusals as what they mean to an output."""
    try:
        with passing_errors():
            yield
    except ClientError as error:
        match code_of(error):
            case "NoSuchUpload":
                raise UploadGone(key, upload_id) from error
            case "PreconditionFailed" | "412":
                raise ObjectExists(key) from error
            case "InvalidPart" | "InvalidPartOrder":
                raise PartLost(key) from error
            case "ConditionalRequestConflict" as code:
                raise Unavailable(code) from error
        raise
