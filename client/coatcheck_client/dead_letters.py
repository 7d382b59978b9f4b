"""The dead-letter queue: what lies in it, taken out for a while, put back or thrown away."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import msgspec

from coatcheck_client.deployment import Deployment
from coatcheck_client.operator import operate

if TYPE_CHECKING:
    from types_boto3_sqs.type_defs import MessageTypeDef

T = TypeVar("T")

BATCH = 10
HOLD_SECONDS = 300
"""So long a letter is out of the queue. What is neither put back nor thrown away by then comes back by itself."""


@dataclass(frozen=True, kw_only=True)
class DeadLetter:
    """One message. The queue is at least once: a job may have several. `body` is kept for what this version lacks."""

    job_id: str
    tenant: str = ""
    kind: str = ""
    attempt: int = 0
    failures: int = 0
    error_type: str = ""
    error_message: str = ""
    failed_at: str = ""
    receipt: str = ""
    body: str = ""


ByJob: TypeAlias = dict[str, list[DeadLetter]]


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """Which letters are meant. Empty: all."""

    job_ids: frozenset[str] = frozenset()
    kind: str | None = None
    tenant: str | None = None
    error: str | None = None

    def admits(self, letter: DeadLetter) -> bool:
        return (
            (not self.job_ids or letter.job_id in self.job_ids)
            and self.kind in (None, letter.kind)
            and self.tenant in (None, letter.tenant)
            and self.error in (None, letter.error_type)
        )


@dataclass(frozen=True, kw_only=True)
class Redriven:
    """What became of a job: the new one, how far the checkpoint is from which it goes on, or why there is none."""

    job_id: str
    retried_as: str | None = None
    resumes_at: int | None = None
    refused: str | None = None


class DeadLetterQueue:
    def __init__(self, deployment: Deployment) -> None:
        self._deployment = deployment
        self._sqs = deployment.sqs
        self._url = deployment.output("DeadLetterQueueUrl")

    def count(self) -> int:
        """About how many messages can be received now."""
        found = self._sqs.get_queue_attributes(QueueUrl=self._url, AttributeNames=["ApproximateNumberOfMessages"])
        return int(found["Attributes"]["ApproximateNumberOfMessages"])

    def _taken(self) -> Iterator[list[DeadLetter]]:
        """Every letter that can be received, some at a time, each hidden from others for a while."""
        while messages := self._sqs.receive_message(
            QueueUrl=self._url, MaxNumberOfMessages=BATCH, VisibilityTimeout=HOLD_SECONDS, WaitTimeSeconds=1
        ).get("Messages"):
            yield [_letter(message) for message in messages]

    def put_back(self, letters: Sequence[DeadLetter]) -> None:
        self.hold(letters, seconds=0)

    def hold(self, letters: Sequence[DeadLetter], seconds: int = HOLD_SECONDS) -> None:
        """Hide taken letters for so long from now."""
        for batch in batches(letters):
            self._sqs.change_message_visibility_batch(
                QueueUrl=self._url,
                Entries=[
                    {"Id": str(number), "ReceiptHandle": letter.receipt, "VisibilityTimeout": seconds}
                    for number, letter in enumerate(batch)
                ],
            )

    def throw_away(self, letters: Sequence[DeadLetter]) -> None:
        for batch in batches(letters):
            self._sqs.delete_message_batch(
                QueueUrl=self._url,
                Entries=[{"Id": str(number), "ReceiptHandle": letter.receipt} for number, letter in enumerate(batch)],
            )

    @contextmanager
    def selected(self, wanted: Wanted, seen: Callable[[int], None] = lambda _: None) -> Iterator[ByJob]:
        """The letters that are meant, by their jobs; what is left of them at the end is put back, come what may.

        `seen` is told how many were looked at. A message that is none of ours has no job.
        """
        meant: ByJob = {}
        others: list[DeadLetter] = []
        try:
            for letters in self._taken():
                for letter in letters:
                    (meant.setdefault(letter.job_id, []) if wanted.admits(letter) else others).append(letter)
                seen(len(others) + len(all_of(meant)))
            self.put_back(others)
            others.clear()
            yield meant
        finally:
            self.put_back([*others, *all_of(meant)])


def all_of(letters: ByJob) -> list[DeadLetter]:
    return [letter for several in letters.values() for letter in several]


def redrive(deployment: Deployment, job_ids: Sequence[str]) -> list[Redriven]:
    """Try jobs again; asked twice, it answers the same. Raises OperatorFailed."""
    return [
        Redriven(
            job_id=each["id"],
            retried_as=each.get("retried_as"),
            resumes_at=None if "resumes_at" not in each else int(each["resumes_at"]),
            refused=each.get("refused"),
        )
        for each in operate(deployment, "redrive", job_ids=list(job_ids))["jobs"]
    ]


def note_purge(deployment: Deployment, job_ids: Sequence[str]) -> None:
    """Let the jobs' histories say who threw their dead letters away. Raises OperatorFailed."""
    for batch in batches(job_ids):
        operate(deployment, "purged", job_ids=list(batch))


def _letter(message: "MessageTypeDef") -> DeadLetter:
    """A message that is none of ours is shown, too, as what it is."""
    body, receipt = message["Body"], message["ReceiptHandle"]
    try:
        return msgspec.json.decode(body, type=_Body).letter(body, receipt)
    except msgspec.DecodeError:
        return DeadLetter(job_id="", error_message="not a dead letter of Coatcheck", receipt=receipt, body=body)


class _Body(msgspec.Struct, frozen=True, kw_only=True):
    """What the platform writes; an older or newer one may write less or more."""

    job_id: str
    tenant: str = ""
    kind: str = ""
    attempt: int = 0
    failures: int = 0
    error_type: str = ""
    error_message: str = ""
    failed_at: str = ""

    def letter(self, body: str, receipt: str) -> DeadLetter:
        return DeadLetter(**msgspec.structs.asdict(self), receipt=receipt, body=body)


def looked_at(deployment: Deployment, job_id: str) -> dict[str, Any]:
    """A job's document and history, whoever's it is; why not, if it is gone. Raises OperatorFailed."""
    (known,) = operate(deployment, "look", job_ids=[job_id])["jobs"]
    return {name: value for name, value in known.items() if name != "id"}


def batches(items: Sequence[T], size: int = BATCH) -> Iterator[Sequence[T]]:
    """As many at once as SQS and the operators' function take."""
    for start in range(0, len(items), size):
        yield items[start : start + size]
