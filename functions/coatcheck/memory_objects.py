"""An in-memory bucket, as strict as S3: for tests, `perform`, and the simulation."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import md5

from coatcheck.limits import BeyondLimits, check_object_key, check_part_number
from coatcheck.objects import MINIMUM_PART_BYTES, ObjectExists, PartLost, StoredObject, UploadGone


@dataclass(kw_only=True)
class _Upload:
    key: str
    begun_at: datetime
    nonce: str
    content_type: str
    parts: dict[int, bytes] = field(default_factory=dict)


@dataclass(kw_only=True)
class MemoryObjects:
    """A versioned bucket with multipart uploads and conditional writes."""

    contents: dict[str, bytes] = field(default_factory=dict)
    versions: dict[str, int] = field(default_factory=dict)
    uploads: dict[str, _Upload] = field(default_factory=dict)
    now: datetime = datetime(2026, 11, 1, tzinfo=UTC)
    """The bucket's clock: what is stored or begun bears this time."""

    _about: dict[str, StoredObject] = field(default_factory=dict)
    _stored_at: dict[str, datetime] = field(default_factory=dict)

    def begin(self, key: str, *, nonce: str, content_type: str) -> str:
        check_object_key(key)
        upload_id = f"upload-{len(self.uploads) + 1}-{nonce}"
        self.uploads[upload_id] = _Upload(key=key, begun_at=self.now, nonce=nonce, content_type=content_type)
        return upload_id

    def put_part(self, key: str, upload_id: str, number: int, data: bytes) -> str:
        check_part_number(number)
        self._upload(key, upload_id).parts[number] = data
        return _etag(data)

    def parts(self, key: str, upload_id: str) -> Mapping[int, str]:
        return {number: _etag(data) for number, data in self._upload(key, upload_id).parts.items()}

    def complete(self, key: str, upload_id: str, etags: Sequence[tuple[int, str]]) -> None:
        upload = self._upload(key, upload_id)
        if not etags:
            raise BeyondLimits("MalformedXML: an upload is completed from at least one part")
        chosen = [(number, upload.parts.get(number), etag) for number, etag in etags]
        if any(data is None or _etag(data) != etag for _, data, etag in chosen):
            raise PartLost(key)
        parts = [data for _, data, _ in chosen if data is not None]
        if any(len(data) < MINIMUM_PART_BYTES for data in parts[:-1]):
            raise BeyondLimits("EntityTooSmall: a part that is not the last is smaller than 5 MiB")
        if key in self.contents:
            raise ObjectExists(key)
        self._store(key, b"".join(parts), upload.nonce, upload.content_type)
        del self.uploads[upload_id]

    def put(self, key: str, data: bytes, *, nonce: str, content_type: str, replacing: str | None = None) -> None:
        check_object_key(key)
        stands = self.head(key)
        if (stands.etag if stands else None) != replacing:
            raise ObjectExists(key)
        self._store(key, data, nonce, content_type)

    def remove(self, prefix: str, before: datetime) -> None:
        for upload_id, upload in list(self.uploads.items()):
            if upload.key.startswith(prefix) and upload.begun_at <= before:
                del self.uploads[upload_id]
        for key, stored_at in list(self._stored_at.items()):
            if key.startswith(prefix) and stored_at <= before:
                del self.contents[key], self._about[key], self._stored_at[key]

    def head(self, key: str) -> StoredObject | None:
        return self._about.get(key)

    def get(self, key: str) -> bytes | None:
        return self.contents.get(key)

    def forget_parts(self, upload_id: str, numbers: Iterable[int]) -> None:
        """Lose some parts of an upload, as no bucket should."""
        for number in numbers:
            del self.uploads[upload_id].parts[number]

    def _upload(self, key: str, upload_id: str) -> _Upload:
        upload = self.uploads.get(upload_id)
        if upload is None or upload.key != key:
            raise UploadGone(key, upload_id)
        return upload

    def _store(self, key: str, data: bytes, nonce: str, content_type: str) -> None:
        self.contents[key] = data
        self._stored_at[key] = self.now
        self.versions[key] = self.versions.get(key, 0) + 1
        self._about[key] = StoredObject(
            key=key,
            bytes=len(data),
            content_type=content_type,
            nonce=nonce,
            etag=_etag(data),
            version=str(self.versions[key]),
        )


def _etag(data: bytes) -> str:
    return f'"{md5(data, usedforsecurity=False).hexdigest()}"'
