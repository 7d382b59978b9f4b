"""What DynamoDB's refusals mean: decided by codes and attributes, never by the text."""

import socket
from collections.abc import Callable
from typing import Any

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError

from coatcheck.aws import clients
from coatcheck.aws.dynamo_store import TRIES, DynamoStore
from coatcheck.job import job_key
from coatcheck.store import Refused, Store, TransactionRefused, Unavailable
from coatcheck.write import Put, Table, absent, is_, put, update
from tests.coatcheck.cloud import REGION, Cloud, Mishaps, past_moto, through

pytestmark = pytest.mark.usefixtures("aws")

TABLES = {table: table.value for table in Table}
SHUFFLED = "OTHER words, in Other Letters"
CONFLICT = {
    "__type": "com.amazonaws.dynamodb.v20120810#TransactionCanceledException",
    "Message": SHUFFLED,
    "CancellationReasons": [{"Code": "TransactionConflict", "Message": SHUFFLED}, {"Code": "None"}],
}


def error(code: str, **more: Any) -> tuple[int, dict[str, Any]]:
    return 400, {"__type": f"com.amazonaws.dynamodb.v20120810#{code}", "message": SHUFFLED} | more


def store_with(*answers: tuple[int, dict[str, Any]]) -> tuple[Store, Mishaps]:
    mishaps = Mishaps(*answers)
    return DynamoStore(through(clients.dynamodb(), mishaps), TABLES), mishaps


def two_puts(name: str) -> list[Put]:
    return [put(job_key(f"{name}-{number}"), {"a": 1}, absent("a")) for number in (1, 2)]


def test_a_conflict_with_another_transaction_is_tried_again_and_is_no_refusal() -> None:
    store, mishaps = store_with((400, CONFLICT), (400, CONFLICT))
    store.transact(two_puts("conflict"))
    assert mishaps.asked == 3
    assert store.get(job_key("conflict-2")) == {"id": "conflict-2", "a": 1}


def test_a_conflict_that_never_ends_is_unavailable_and_no_refusal() -> None:
    store, mishaps = store_with(*[(400, CONFLICT)] * TRIES)
    with pytest.raises(Unavailable) as unavailable:
        store.transact(two_puts("endless"))
    assert unavailable.value.code == "TransactionConflict"
    assert mishaps.asked == TRIES


def test_a_refusal_beside_a_conflict_is_a_refusal() -> None:
    reasons = [{"Code": "ConditionalCheckFailed", "Item": {"id": {"S": "x"}}}, {"Code": "TransactionConflict"}]
    store, _ = store_with((400, CONFLICT | {"CancellationReasons": reasons}))
    with pytest.raises(TransactionRefused) as refused:
        store.transact(two_puts("both"))
    assert refused.value.refused == {0: {"id": "x"}}


def test_a_refusal_without_the_old_item_is_followed_by_a_consistent_read() -> None:
    store, _ = store_with()
    store.write(put(job_key("old"), {"a": 7}))
    store, mishaps = store_with(error("ConditionalCheckFailedException"))
    with pytest.raises(Refused) as refusal:
        store.write(update(job_key("old"), (is_("a", 1),), {"a": 2}))
    assert refusal.value.old == {"id": "old", "a": 7}
    assert mishaps.asked == 2
    reasons = [{"Code": "None"}, {"Code": "ConditionalCheckFailed"}]
    store, _ = store_with((400, CONFLICT | {"CancellationReasons": reasons}))
    with pytest.raises(TransactionRefused) as refused:
        store.transact([put(job_key("new"), {"a": 1}), put(job_key("old"), {"a": 1}, absent("a"))])
    assert refused.value.refused == {1: {"id": "old", "a": 7}}


def test_a_refusal_brings_the_old_item_in_its_own_answer() -> None:
    store, mishaps = store_with()
    store.write(put(job_key("one-call"), {"a": 7}))
    with pytest.raises(Refused):
        store.write(put(job_key("one-call"), {"a": 8}, absent("a")))
    with pytest.raises(TransactionRefused):
        store.transact([put(job_key("one-call"), {"a": 8}, absent("a"))])
    assert mishaps.asked == 3


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (error("ProvisionedThroughputExceededException"), "ProvisionedThroughputExceededException"),
        (error("ThrottlingException"), "ThrottlingException"),
        (error("RequestLimitExceeded"), "RequestLimitExceeded"),
        (error("TransactionInProgressException"), "TransactionInProgressException"),
        (error("TransactionConflictException"), "TransactionConflictException"),
        ((500, {"__type": "InternalServerError"}), "InternalServerError"),
        ((503, {}), "503"),
    ],
)
def test_what_passes_by_itself_is_unavailable(answer: tuple[int, dict[str, Any]], code: str) -> None:
    calls: list[Callable[[Store], object]] = [
        lambda store: store.get(job_key("a")),
        lambda store: store.write(put(job_key("a"), {"a": 1})),
        lambda store: store.transact(two_puts("a")),
    ]
    for call in calls:
        client: Any = boto3.client("dynamodb", region_name=REGION, config=Config(retries={"total_max_attempts": 1}))
        with pytest.raises(Unavailable) as unavailable:
            call(DynamoStore(through(client, Mishaps(answer)), TABLES))
        assert unavailable.value.code == code


@pytest.mark.parametrize("code", ["ResourceNotFoundException", "AccessDeniedException", "ValidationException"])
def test_what_is_our_own_fault_flies(code: str) -> None:
    store, _ = store_with(error(code))
    with pytest.raises(ClientError) as ours:
        store.get(job_key("a"))
    assert ours.value.response["Error"]["Code"] == code


def closed_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


def elsewhere(port: int) -> Store:
    """A store whose endpoint is this machine, past moto."""
    once = Config(connect_timeout=1, read_timeout=0.2, retries={"total_max_attempts": 1})
    client: Any = boto3.client("dynamodb", region_name=REGION, endpoint_url=f"http://127.0.0.1:{port}", config=once)
    return DynamoStore(past_moto(client), TABLES)


def test_a_refused_connection_is_unavailable() -> None:
    with pytest.raises(Unavailable) as unavailable:
        elsewhere(closed_port()).get(job_key("a"))
    assert unavailable.value.code == "EndpointConnectionError"


def test_an_answer_that_never_comes_is_unavailable() -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        with pytest.raises(Unavailable) as unavailable:
            elsewhere(silent.getsockname()[1]).write(put(job_key("a"), {"a": 1}))
    assert unavailable.value.code == "ReadTimeoutError"


def test_a_write_whose_answer_was_lost_is_repeated_by_the_sdk_and_shows_its_own_effect(aws: Cloud) -> None:
    """Not a rule of ours but the reason for one: the repetition is refused by the first call's effect."""

    class LosesTheFirstAnswer(Mishaps):
        def __call__(self, event_name: str, request: Any, **more: Any) -> Any:
            answer = super().__call__(event_name, request, **more)
            if self.asked > 1:
                return answer
            return self.trouble(request, 500, {"__type": "InternalServerError"})

    client = through(clients.dynamodb(), LosesTheFirstAnswer())
    with pytest.raises(Refused) as refusal:
        DynamoStore(client, TABLES).write(put(job_key("echo"), {"owner": "me"}, absent("owner")))
    assert refusal.value.old == {"id": "echo", "owner": "me"}
    assert aws.dynamodb.get_item(TableName="jobs", Key={"id": {"S": "echo"}, "item": {"S": "job"}})["Item"]
