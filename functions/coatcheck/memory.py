"""In-memory fakes of the ports, as strict as AWS: for tests, `perform`, and the simulation."""

from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from hashlib import md5
from operator import itemgetter
from threading import RLock

from coatcheck.doorbell import DeadLetter, Doorbell
from coatcheck.index import Place, page_of, places, shown
from coatcheck.job import DUE_SHOWS, job_key
from coatcheck.judgement import holds
from coatcheck.limits import (
    BeyondLimits,
    check_item,
    check_key,
    check_object_key,
    check_part_number,
    check_reads,
    check_writes,
)
from coatcheck.objects import MINIMUM_PART_BYTES, ObjectExists, PartLost, StoredObject, UploadGone
from coatcheck.row import Row, milliseconds
from coatcheck.store import IndexPage, ListPage, Refused, RowPage, TransactionRefused
from coatcheck.write import Key, Put, Write


@dataclass(kw_only=True)
class MemoryStore:
    """Tables with conditional writes, transactions and indexes that never lag."""

    page_size: int = 100
    rows: dict[Key, Row] = field(default_factory=dict)
    _lock: RLock = field(default_factory=RLock, repr=False)

    def get(self, key: Key) -> Row | None:
        check_key(key)
        with self._lock:
            return deepcopy(self.rows.get(key))

    def get_many(self, keys: Sequence[Key]) -> dict[Key, Row]:
        check_reads(keys)
        with self._lock:
            return {key: deepcopy(self.rows[key]) for key in keys if key in self.rows}

    def write(self, write: Write) -> Row:
        check_writes([write])
        with self._lock:
            self._check(write)
            return self._apply(write)

    def transact(self, writes: Sequence[Write]) -> None:
        check_writes(writes)
        with self._lock:
            self._transact(writes)

    def _transact(self, writes: Sequence[Write]) -> None:
        refused: dict[int, Row | None] = {}
        for position, write in enumerate(writes):
            try:
                self._check(write)
            except Refused as refusal:
                refused[position] = refusal.old
        if refused:
            raise TransactionRefused(refused)
        for write in writes:
            self._apply(write)

    def due(self, shard: str, now: datetime, start: str | None = None) -> IndexPage:
        found = [place for place in self._index("due_shard", shard, "due") if place[0] <= milliseconds(now)]
        return page_of(found, start, self.page_size)

    def all_due(self, shard: str, start: str | None = None) -> RowPage:
        with self._lock:
            page = page_of(self._index("due_shard", shard, "due"), start, self.page_size)
            rows = tuple(shown(self.rows[job_key(job_id)], DUE_SHOWS) for job_id in page.ids)
        return RowPage(rows=rows, next=page.next)

    def waiting(self, limiter: str, start: str | None = None) -> IndexPage:
        return page_of(self._index("waiting", limiter, "waits_since"), start, self.page_size)

    def count_waiting(self, limiter: str) -> int:
        return len(self._index("waiting", limiter, "waits_since"))

    def _index(self, partition: str, of: str, time: str) -> list[Place]:
        with self._lock:
            return places(((key.id, row) for key, row in self.rows.items()), partition, of, time)

    def listed(self, tenant: str, most: int, before: str | None = None) -> ListPage:
        with self._lock:
            ids = [key.id for key, row in self.rows.items() if row.get("tenant") == tenant and row.get("id") == key.id]
        rest = sorted((job_id for job_id in ids if before is None or job_id < before), reverse=True)
        return ListPage(ids=tuple(rest[:most]), more=len(rest) > most)

    def beside(self, job_id: str, prefix: str, most: int) -> list[Row]:
        with self._lock:
            found = [
                (key.item, row) for key, row in self.rows.items() if key.id == job_id and key.item.startswith(prefix)
            ]
            return [deepcopy(row) for _, row in sorted(found, key=itemgetter(0), reverse=True)[:most]]

    def _check(self, write: Write) -> None:
        row = self.rows.get(write.key)
        exists = row is not None or isinstance(write, Put)
        if not exists or not all(holds(condition, row or {}) for condition in write.when):
            raise Refused(deepcopy(row))

    def _apply(self, write: Write) -> Row:
        if isinstance(write, Put):
            row = deepcopy(write.row)
        else:
            row = {**deepcopy(write.set_if_absent), **self.rows[write.key], **deepcopy(write.set)}
            row = {name: value for name, value in row.items() if name not in write.remove}
        check_item(write.key, row)
        self.rows[write.key] = row
        return deepcopy(row)


@dataclass(kw_only=True)
class MemoryQueues:
    """Queues that remember what was sent."""

    rung: list[tuple[str, Doorbell]] = field(default_factory=list)
    woken: list[tuple[str, timedelta]] = field(default_factory=list)
    dead_letters: list[DeadLetter] = field(default_factory=list)

    def ring(self, lane: str, doorbell: Doorbell) -> None:
        self.rung.append((lane, doorbell))

    def wake(self, job_id: str, delay: timedelta) -> None:
        if not timedelta(0) <= delay <= timedelta(minutes=15):
            raise BeyondLimits(f"SQS delays a message by 0 to 900 seconds, not by {delay}")
        self.woken.append((job_id, delay))

    def dead_letter(self, letter: DeadLetter) -> None:
        self.dead_letters.append(letter)


@dataclass(kw_only=True)
class MemoryMessage:
    """A message that remembers for how long it was hidden."""

    hidden: list[timedelta] = field(default_factory=list)

    def hide(self, span: timedelta) -> None:
        if not timedelta(0) <= span <= timedelta(hours=12):
            raise BeyondLimits(f"SQS hides a message for 0 to 43,200 seconds, not for {span}")
        self.hidden.append(span)


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
