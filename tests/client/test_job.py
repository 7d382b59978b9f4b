"""The client's job is the API's status document, today's and tomorrow's."""

from datetime import UTC, datetime
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

import msgspec
import pytest
from msgspec import Struct, UnsetType
from msgspec.structs import fields

from coatcheck.catalogue import KindDocument
from coatcheck.document import StatusDocument
from coatcheck.job import FINAL as THEIR_FINAL
from coatcheck.job import State as TheirState
from coatcheck_client.job import FINAL, Job, Kind, State, job_of
from tests.client.server import document

OF_THE_CLIENT = {"replayed", "document"}


def shape(struct: type[Struct]) -> dict[str, tuple[bool, Any]]:
    """Of each field: whether it is always there, and the shape of what is in it."""
    return {each.name: (each.required, nested(each.type)) for each in fields(struct) if each.name not in OF_THE_CLIENT}


def nested(form: Any) -> Any:
    if get_origin(form) is Annotated:
        return nested(get_args(form)[0])
    if get_origin(form) in (Union, UnionType):
        (form,) = (part for part in get_args(form) if part not in (type(None), UnsetType))
        return nested(form)
    return shape(form) if isinstance(form, type) and issubclass(form, Struct) else None


@pytest.mark.parametrize(("ours", "theirs"), [(Job, StatusDocument), (Kind, KindDocument)])
def test_the_client_knows_every_field_that_the_api_has(ours: type[Struct], theirs: type[Struct]) -> None:
    assert shape(ours) == shape(theirs)


def test_the_client_knows_every_state() -> None:
    assert {each.value: each.final for each in State} == {each.value: each.final for each in TheirState}
    assert {each.value for each in FINAL} == {each.value for each in THEIR_FINAL}


def test_times_are_aware_and_parts_are_typed() -> None:
    found = job_of(
        document(
            "succeeded",
            finished_at="2026-11-10T12:00:01.500Z",
            progress={"done": 3, "total": 4, "percent": 75, "stage": "x"},
            result={"url": "/v1/results/t", "bytes": 7, "rows": 1, "expires_at": "2026-11-17T12:00:00.000Z"},
        )
    )
    assert found.finished_at == datetime(2026, 11, 10, 12, 0, 1, 500_000, tzinfo=UTC)
    assert (found.progress.percent, found.retry_at, found.error) == (75, None, None)
    assert found.result is not None
    assert found.result.bytes == 7
    assert found.succeeded


def test_what_a_newer_api_says_is_passed_over_and_kept() -> None:
    newer = document("suspended", ahead=3, progress={"done": 0, "eta": 9})
    found = job_of(newer)
    assert (found.state, found.final, found.replayed) == ("suspended", False, False)
    assert found.document == newer
    assert found.state not in FINAL


@pytest.mark.parametrize("change", [{"id": 7}, {"state": 7}, {"created_at": "2026-11-10T12:00:00"}, {"progress": None}])
def test_what_is_no_job_is_not_taken_for_one(change: dict[str, Any]) -> None:
    with pytest.raises(msgspec.ValidationError):
        job_of(document(**change))
