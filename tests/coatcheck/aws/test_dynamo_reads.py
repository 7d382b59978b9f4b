"""What DynamoDB leaves out of an answer is asked for again, within bounds."""

from typing import Any

import pytest

from coatcheck.aws import clients
from coatcheck.aws.dynamo_store import TRIES, DynamoStore
from coatcheck.aws.time_index import MOST_COUNTED_PAGES
from coatcheck.job import job_key
from coatcheck.store import Store, Unavailable
from coatcheck.write import Table, put
from tests.coatcheck.cloud import Mishaps, through, watched

pytestmark = pytest.mark.usefixtures("aws")

PLACE: dict[str, Any] = {"id": {"S": "left-out"}, "item": {"S": "job"}}
LEFT_OUT = {"Responses": {}, "UnprocessedKeys": {"jobs": {"Keys": [PLACE], "ConsistentRead": True}}}


def store_with(*answers: tuple[int, dict[str, Any]]) -> tuple[Store, Mishaps]:
    mishaps = Mishaps(*answers)
    store = DynamoStore(through(clients.dynamodb(), mishaps), {table: table.value for table in Table})
    return store, mishaps


def test_rows_that_were_left_out_are_asked_for_again_and_the_others_are_kept() -> None:
    store, _ = store_with()
    store.write(put(job_key("left-out"), {"a": 1}))
    answered = {"Responses": {"jobs": [{"id": {"S": "there"}, "item": {"S": "job"}, "a": {"N": "2"}}]}}
    store, mishaps = store_with((200, LEFT_OUT | answered), (200, LEFT_OUT))
    keys = [job_key("there"), job_key("left-out")]
    assert store.get_many(keys) == {keys[0]: {"id": "there", "a": 2}, keys[1]: {"id": "left-out", "a": 1}}
    assert mishaps.asked == 3


def test_rows_that_are_left_out_for_ever_are_unavailable() -> None:
    store, mishaps = store_with(*[(200, LEFT_OUT)] * TRIES)
    with pytest.raises(Unavailable) as unavailable:
        store.get_many([job_key("left-out")])
    assert (unavailable.value.code, mishaps.asked) == ("UnprocessedKeys", TRIES)


def test_a_count_adds_up_its_pages_and_ends() -> None:
    page = {"Count": 5, "ScannedCount": 5, "LastEvaluatedKey": PLACE | {"waits_since": {"N": "1"}}}
    store, mishaps = store_with((200, page), (200, page), (200, {"Count": 2, "ScannedCount": 2}))
    assert (store.count_waiting("pause#kind#probe"), mishaps.asked) == (12, 3)
    store, mishaps = store_with(*[(200, page)] * (MOST_COUNTED_PAGES + 5))
    assert (store.count_waiting("pause#kind#probe"), mishaps.asked) == (5 * MOST_COUNTED_PAGES, MOST_COUNTED_PAGES)


def test_a_job_is_read_from_its_own_row_and_consistently_so_that_one_just_made_is_never_missing() -> None:
    store, _ = store_with()
    store.write(put(job_key("just-made"), {"a": 1}))
    with watched(clients.dynamodb(), "GetItem") as one, watched(clients.dynamodb(), "BatchGetItem") as several:
        assert store.get(job_key("just-made")) == {"id": "just-made", "a": 1}
        assert len(store.get_many([job_key("just-made"), job_key("nobody")])) == 1
    assert [params["ConsistentRead"] for params in one] == [True]
    assert [params["RequestItems"]["jobs"]["ConsistentRead"] for params in several] == [True]
