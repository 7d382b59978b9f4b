"""The unstarted queue: jobs whose doorbells no worker could claim are settled."""

from typing import Any

import pytest

from coatcheck.aws import clients
from coatcheck.job import State
from handlers import unstarted
from tests.coatcheck.cloud import BUSY, troubled
from tests.coatcheck.rows import doorbell
from tests.handlers.events import LambdaContext, failed_items, message, sqs_event
from tests.handlers.jobs_table import add_job, job_in_table

pytestmark = pytest.mark.usefixtures("aws")


def given_up(*messages: dict[str, Any]) -> list[str]:
    return failed_items(unstarted.handler(sqs_event(*messages, receives=1), LambdaContext()))


def test_a_job_that_could_never_start_fails_and_says_so() -> None:
    job = add_job(sent=1)
    assert given_up(message(doorbell(job))) == []
    after = job_in_table(job.id)
    assert after.error is not None
    assert (after.state, after.error.type) == (State.FAILED, "never_started")


def test_a_stale_doorbell_is_done_and_changes_nothing() -> None:
    job = add_job(state=State.RUNNING, owner="owner-1", lease_until=None)
    assert given_up(message(doorbell(job)), message(doorbell(job, attempt=7))) == []
    assert job_in_table(job.id).state is State.RUNNING


def test_a_broken_message_or_a_table_in_trouble_brings_back_nothing_but_itself() -> None:
    met, good = add_job(), add_job()
    trouble, bad = message(doorbell(met)), message("not a doorbell")
    with troubled(clients.dynamodb(), BUSY):
        failed = given_up(trouble, bad, message(doorbell(good)))
    assert failed == [trouble["MessageId"], bad["MessageId"]]
    assert job_in_table(good.id).state is State.FAILED
