"""The port to the results bucket, with S3's conditions and multipart uploads."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

MINIMUM_PART_BYTES = 5 * 1024 * 1024
"""S3 refuses smaller parts, but for the last: https://docs.aws.amazon.com/AmazonS3/latest/userguide/qfacts.html"""


@dataclass(frozen=True, kw_only=True)
class StoredObject:
    """An object as the bucket has it. `nonce` says whose it is: the upload's, or a digest of small content."""

    key: str
    bytes: int
    content_type: str
    nonce: str
    etag: str
    version: str | None


class ObjectExists(Exception):
    """The condition of a write did not hold: another object stands at the key."""

    def __init__(self, key: str) -> None:
        super().__init__(f"an object already stands at {key}")
        self.key = key


class UploadGone(Exception):
    """The multipart upload does not exist (any more): completed, aborted or expired."""

    def __init__(self, key: str, upload_id: str) -> None:
        super().__init__(f"the upload {upload_id} of {key} is gone")
        self.key = key
        self.upload_id = upload_id


class PartLost(Exception):
    """A part is not what was uploaded: the next attempt writes it again from where it starts."""

    def __init__(self, key: str) -> None:
        super().__init__(f"a part of the upload of {key} is missing or was replaced")
        self.key = key


class Objects(Protocol):
    """Every call raises Unavailable when the service does not answer."""

    def begin(self, key: str, *, nonce: str, content_type: str) -> str:
        """Begin a multipart upload and return its id."""

    def put_part(self, key: str, upload_id: str, number: int, data: bytes) -> str:
        """Upload a part and return its ETag. Raises UploadGone."""

    def parts(self, key: str, upload_id: str) -> Mapping[int, str]:
        """The ETags of the parts that were uploaded, by number. Raises UploadGone."""

    def complete(self, key: str, upload_id: str, etags: Sequence[tuple[int, str]]) -> None:
        """Make the object, if none stands at the key. Raises ObjectExists, UploadGone, PartLost."""

    def put(self, key: str, data: bytes, *, nonce: str, content_type: str, replacing: str | None = None) -> None:
        """Store an object, if none stands at the key or only the one with the ETag `replacing`.

        Raises ObjectExists.
        """

    def remove(self, prefix: str, before: datetime) -> None:
        """Delete what was stored, and abort what was begun, under a prefix before a moment."""

    def head(self, key: str) -> StoredObject | None: ...

    def get(self, key: str) -> bytes | None: ...
