"""What the operators' function does about schedules: it checks one, runs one by hand once, and knows their records."""

from itertools import count
from typing import Any

import pytest

from coatcheck.job import State
from handlers import operator, ports, ticker
from tests.coatcheck.cloud import Cloud
from tests.coatcheck.submits import move
from tests.handlers.events import LambdaContext
from tests.handlers.jobs_table import job_in_table, now
from tests.handlers.test_ticker import known, tick

BY = "arn:aws:iam::123456789012:user/example"
_numbers = count(1)


@pytest.fixture
def name(aws: Cloud) -> str:
    return f"weekly-{next(_numbers)}"


def operated(act: str, **fields: Any) -> dict[str, Any]:
    return dict(operator.handler({"act": act, "by": BY, **fields}, LambdaContext()))


def run(name: str, nonce: str, **changes: Any) -> dict[str, Any]:
    asked = {"schedule": name, "tenant": "acme", "request": {"kind": "probe"}, "overlap": True, "nonce": nonce}
    return operated("run_schedule", **(asked | changes))


@pytest.mark.usefixtures("aws")
def test_a_request_that_the_deployed_kinds_take_is_fine() -> None:
    assert operated("check_schedule", tenant="acme", request={"kind": "probe", "args": {"steps": 2}}) == {}


@pytest.mark.usefixtures("aws")
@pytest.mark.parametrize(
    ("request_", "pointer", "says"),
    [
        ({"kind": "prob"}, "/kind", "no such kind: there are "),
        ({"kind": "probe", "args": {"stepps": 2}}, "/args/stepps", "unknown"),
        ({"kind": "probe", "lane": "slow"}, "/lane", "must be one of"),
    ],
)
def test_what_they_do_not_take_is_refused_with_every_fault(request_: dict[str, Any], pointer: str, says: str) -> None:
    told = operated("check_schedule", tenant="acme", request=request_)
    (error,) = told["errors"]
    assert error["pointer"] == pointer
    assert says in error["detail"]
    assert told["refused"]


def test_a_run_by_hand_that_is_repeated_is_one_job(name: str) -> None:
    first, again, other = run(name, "n1"), run(name, "n1"), run(name, "n2")
    assert first == again != other
    job = job_in_table(first["job_id"])
    assert (job.tenant, job.requested_by) == ("acme", f"{BY}, by hand for the schedule {name}")


def test_a_run_by_hand_says_which_open_job_it_must_not_overlap(aws: Cloud, name: str) -> None:
    first = run(name, "n1", overlap=False)["job_id"]
    assert first in run(name, "n2", overlap=False)["refused"]
    move(ports.jobs(), job_in_table(first), State.SUCCEEDED)
    assert run(name, "n2", overlap=False)["job_id"] != first


def test_a_schedule_that_never_ticked_has_nothing_to_tell(name: str) -> None:
    assert known(name) == {"skipped": 0}


def test_the_state_of_a_job_that_is_gone_is_not_told(aws: Cloud, name: str) -> None:
    job_id = ticker.handler(tick(name, now()), LambdaContext())["job_id"]
    aws.dynamodb.delete_item(TableName="jobs", Key={"id": {"S": str(job_id)}, "item": {"S": "job"}})
    assert known(name)["last_job"] == {"id": job_id}


def test_no_args_are_logged(name: str, caplog: pytest.LogCaptureFixture) -> None:
    run(name, "n1", request={"kind": "probe", "args": {"result_bytes": 987654}})
    ticker.handler(tick(name, now(), args={"result_bytes": 987654}), LambdaContext())
    logged = [str(vars(record)) for record in caplog.records]
    assert sum(name in each for each in logged) == 2
    assert not [each for each in logged if "987654" in each]
