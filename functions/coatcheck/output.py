"""A job's output: one object of the results bucket, written in parts that outlive the attempt."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import msgspec

from coatcheck.objects import ObjectExists, Objects, StoredObject, UploadGone


@dataclass(frozen=True, kw_only=True)
class Part:
    """An uploaded part. `start` is the kind's own note of where it starts, to write it again from there."""

    number: int
    etag: str
    size: int
    start: Any = None


@dataclass(frozen=True, kw_only=True)
class Upload:
    """A multipart upload as a cursor keeps it. The nonce tells our upload from another attempt's."""

    id: str
    nonce: str
    parts: tuple[Part, ...] = ()


@dataclass(frozen=True, kw_only=True)
class File:
    """A finished object: that very version of it is the result."""

    key: str
    bytes: int
    content_type: str
    version: str | None = None


class OutputTaken(Exception):
    """Another upload's object stands where this one's should be."""

    def __init__(self, key: str) -> None:
        super().__init__(f"{key} was written by another upload")
        self.key = key


class DamagedOutput(Exception):
    """The finished object is not as large as what was written."""

    def __init__(self, key: str, written: int, found: int) -> None:
        super().__init__(f"{key} has {found:,} bytes where {written:,} were written")
        self.key = key
        self.written = written
        self.found = found


class Output:
    """A stream into one object. Write, put a part whenever enough is pending, save a checkpoint, complete.

    With `resume`, the parts of an earlier attempt are compared with what the bucket has: `rewound` is then where the
    first part starts that must be written again, and `finished` is the file if an attempt of ours completed it.
    """

    def __init__(
        self, objects: Objects, key: str, content_type: str, nonce: Callable[[], str], resume: Upload | None
    ) -> None:
        self._objects = objects
        self._key = key
        self._content_type = content_type
        self._nonce = nonce
        self._buffer: list[bytes] = []
        self.pending = 0
        self.upload: Upload | None = None
        self.rewound: Any = None
        self.finished: File | None = None
        if resume is not None:
            self._resume(resume)

    def write(self, data: bytes) -> None:
        """Buffer some bytes in memory."""
        self._buffer.append(data)
        self.pending += len(data)

    def put_part(self, start: object = None) -> Upload:
        """Upload what is pending as the next part and return the upload for the cursor.

        `start` is any JSON-able value: where the part starts. Parts but the last need 5 MiB. Raises UploadGone.
        """
        data = self._take()
        upload = self.upload or self._begin()
        number = len(upload.parts) + 1
        etag = self._objects.put_part(self._key, upload.id, number, data)
        part = Part(number=number, etag=etag, size=len(data), start=msgspec.to_builtins(start))
        self.upload = Upload(id=upload.id, nonce=upload.nonce, parts=(*upload.parts, part))
        return self.upload

    def complete(self) -> File:
        """Finish the object; doing it again, also in a later attempt, finds it finished.

        Everything pending goes in. Save a checkpoint before, so that a later attempt can only complete it, too.
        Raises PartLost, OutputTaken, DamagedOutput.
        """
        if self.finished is None:
            self.finished = self._store_whole() if self.upload is None else self._complete(self.upload)
        return self.finished

    def _resume(self, resume: Upload) -> None:
        try:
            found = self._objects.parts(self._key, resume.id)
        except UploadGone:
            stored = self._objects.head(self._key)
            if stored is not None and stored.nonce == resume.nonce:
                self.finished = _file(stored)
                self.upload = resume
            elif resume.parts:
                self.rewound = resume.parts[0].start
            return
        intact = next(
            (i for i, part in enumerate(resume.parts) if found.get(part.number) != part.etag), len(resume.parts)
        )
        if intact < len(resume.parts):
            self.rewound = resume.parts[intact].start
        self.upload = Upload(id=resume.id, nonce=resume.nonce, parts=resume.parts[:intact])

    def _begin(self) -> Upload:
        nonce = self._nonce()
        upload_id = self._objects.begin(self._key, nonce=nonce, content_type=self._content_type)
        return Upload(id=upload_id, nonce=nonce)

    def _take(self) -> bytes:
        data = b"".join(self._buffer)
        self._buffer.clear()
        self.pending = 0
        return data

    def _complete(self, upload: Upload) -> File:
        if self.pending:
            upload = self.put_part()
        etags = [(part.number, part.etag) for part in upload.parts]
        # An object that exists or an upload that is gone may be our own doing, its answer lost: the nonce tells.
        with suppress(ObjectExists, UploadGone):
            self._objects.complete(self._key, upload.id, etags)
        return self._checked(upload.nonce, sum(part.size for part in upload.parts))

    def _store_whole(self) -> File:
        data = self._take()
        digest = sha256(data).hexdigest()
        try:
            self._objects.put(self._key, data, nonce=digest, content_type=self._content_type)
        except ObjectExists:
            self._replace(data, digest)
        return self._checked(digest, len(data))

    def _replace(self, data: bytes, digest: str) -> None:
        """An earlier attempt left an object. The same content stays; other content gives way to the attempt's own."""
        stored = self._objects.head(self._key)
        if stored is not None and stored.nonce == digest:
            return
        self._objects.put(
            self._key,
            data,
            nonce=digest,
            content_type=self._content_type,
            replacing=stored.etag if stored else None,
        )

    def _checked(self, nonce: str, written: int) -> File:
        stored = self._objects.head(self._key)
        if stored is None or stored.nonce != nonce:
            raise OutputTaken(self._key)
        if stored.bytes != written:
            raise DamagedOutput(self._key, written, stored.bytes)
        return _file(stored)


def _file(stored: StoredObject) -> File:
    return File(key=stored.key, bytes=stored.bytes, content_type=stored.content_type, version=stored.version)
