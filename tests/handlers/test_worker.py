"""A lane's worker, from a received message to its exact batch answer."""

from datetime import timedelta
from typing import Any

import pytest

from coatcheck import JobContext, Permanent, Result
from coatcheck.aws import clients
from coatcheck.job import Job, State, job_key
from coatcheck.run.settings import SOURCE_ROWS_PER_SECOND, SOURCE_SECRET_ARN, SOURCE_URL
from handlers import bells, ports, worker
from tests.coatcheck.cloud import BUSY, Cloud, troubled, watched
from tests.coatcheck.rows import dead_letter, doorbell
from tests.coatcheck.scripts import Args, Play, playing
from tests.coatcheck.shift import failing
from tests.handlers.events import LambdaContext, failed_items, message, sqs_event
from tests.handlers.jobs_table import add_job, job_in_table, new_id, now

pytestmark = pytest.mark.usefixtures("empty_queues")


def received(aws: Cloud, job: Job, **changes: Any) -> dict[str, Any]:
    """The doorbell of a job, sent and received."""
    bells.bell().queues.ring("interactive", doorbell(job, **changes))
    (found,) = aws.sqs.receive_message(QueueUrl=aws.queues["interactive"])["Messages"]
    return dict(found)


def works(job_message: dict[str, Any], *, receives: int = 1, seconds: float = 900) -> list[str]:
    return failed_items(worker.handler(sqs_event(job_message, receives=receives), LambdaContext(seconds)))


def scripted(aws: Cloud, play: Play) -> Job:
    job = add_job(kind="script")
    with playing(play):
        assert works(received(aws, job)) == []
    return job_in_table(job.id)


def test_a_probe_runs_and_leaves_its_file_where_the_row_says(aws: Cloud) -> None:
    job = add_job(args='{"steps":3,"result_bytes":40}')
    assert works(received(aws, job)) == []
    done = job_in_table(job.id)
    assert (done.state, done.attempt, done.failures, done.progress.done) == (State.SUCCEEDED, 1, 0, 3)
    assert done.result is not None
    assert done.result.key == f"results/acme/{job.id}/probe.txt"
    stored = ports.objects().head(done.result.key)
    assert stored is not None
    assert (stored.bytes, stored.version) == (40, done.result.version)


def test_the_message_is_hidden_for_the_lease_once_it_is_claimed(aws: Cloud) -> None:
    with watched(clients.sqs(clients.BRIEF), "ChangeMessageVisibility") as hidden:
        works(received(aws, add_job()))
    assert [params["VisibilityTimeout"] for params in hidden] == [125]


def test_a_transient_error_is_settled_as_such_and_the_message_is_done(aws: Cloud) -> None:
    def play(ctx: JobContext, args: Args) -> Result:
        ctx.checkpoint({"done": 1})
        raise ConnectionError("the portal is closed")

    job = scripted(aws, play)
    assert (job.state, job.failures, job.attempt, job.cursor) == (State.RETRYING, 1, 2, '{"done":1}')
    assert job.retry_at is not None
    assert timedelta(seconds=20) < job.retry_at - now() < timedelta(seconds=40)


def test_a_permanent_error_ends_the_job(aws: Cloud) -> None:
    def play(ctx: JobContext, args: Args) -> Result:
        raise Permanent("no such seller")

    assert scripted(aws, play).state is State.FAILED


def test_a_job_yields_before_the_function_is_ended(aws: Cloud) -> None:
    job = add_job(args='{"steps":3}')
    assert works(received(aws, job), seconds=59) == []
    after = job_in_table(job.id)
    assert (after.state, after.attempt, after.failures, after.cursor) == (
        State.QUEUED,
        2,
        0,
        '{"done":1,"upload":null}',
    )


@pytest.mark.parametrize("bell", [{"attempt": 2}, {"tenant": "globex"}])
def test_a_stale_or_foreign_message_is_done_and_not_charged(aws: Cloud, bell: dict[str, Any]) -> None:
    job = add_job()
    assert works(received(aws, job, **bell)) == []
    assert job_in_table(job.id).state is State.QUEUED


def test_a_duplicate_of_finished_work_is_taken_off_the_queue_and_never_becomes_a_dead_letter(aws: Cloud) -> None:
    job_id = add_job(state=State.SUCCEEDED, freed=True, told=True, due=None).id
    done = job_in_table(job_id)
    again = received(aws, done)
    for receives in (2, 3, 9):
        assert works(again, receives=receives) == []
    assert job_in_table(job_id) == done
    assert aws.received("dead-letters") == []


def test_a_heartbeat_that_finds_its_message_deleted_costs_the_job_nothing(
    aws: Cloud, caplog: pytest.LogCaptureFixture
) -> None:
    job = add_job()
    doorbell_message = received(aws, job)
    aws.sqs.delete_message(QueueUrl=aws.queues["interactive"], ReceiptHandle=doorbell_message["ReceiptHandle"])
    with watched(clients.sqs(clients.BRIEF), "ChangeMessageVisibility") as hidden:
        assert works(doorbell_message) == []
    assert len(hidden) == 1
    done = job_in_table(job.id)
    assert (done.state, done.attempt, done.failures) == (State.SUCCEEDED, 1, 0)
    assert {record.levelname for record in caplog.records} <= {"INFO"}


def test_a_job_has_failed_as_soon_as_its_last_attempt_has_although_nobody_has_moved_a_dead_letter(aws: Cloud) -> None:
    job = add_job(kind="script", attempt=5, failures=4)
    with playing(failing(ConnectionError("no answer"))):
        assert works(received(aws, job)) == []
    assert job_in_table(job.id).state is State.FAILED
    assert aws.received("dead-letters") == aws.received("unstarted") == []


def test_a_message_of_a_job_that_is_gone_is_done(aws: Cloud) -> None:
    job_id = new_id()
    assert works(received(aws, add_job(), job_id=job_id)) == []
    assert ports.jobs().get(job_key(job_id)) is None


def test_a_kind_of_a_later_version_comes_back_for_longer_each_time(aws: Cloud) -> None:
    job = add_job(kind="of-a-later-version")
    doorbell_message = received(aws, job)
    with watched(clients.sqs(), "ChangeMessageVisibility") as hidden:
        for receives in (1, 2, 3):
            assert works(doorbell_message, receives=receives) == [doorbell_message["MessageId"]]
    assert [params["VisibilityTimeout"] for params in hidden] == [20, 40, 80]
    assert job_in_table(job.id).state is State.QUEUED


def test_a_table_in_trouble_gives_the_message_back_uncharged(aws: Cloud) -> None:
    job = add_job()
    doorbell_message = received(aws, job)
    with troubled(clients.dynamodb(), BUSY, BUSY):
        assert works(doorbell_message) == [doorbell_message["MessageId"]]
    assert (job_in_table(job.id).state, job_in_table(job.id).failures) == (State.QUEUED, 0)


def test_a_queue_in_trouble_does_not_keep_a_claimed_job_from_running(aws: Cloud) -> None:
    job = add_job()
    doorbell_message = received(aws, job)
    with troubled(clients.sqs(clients.BRIEF), BUSY):
        assert works(doorbell_message) == []
    assert job_in_table(job.id).state is State.SUCCEEDED


@pytest.mark.parametrize("body", ["hello", "{", "{}", "[]"])
def test_a_message_that_is_no_doorbell_is_named_in_the_log_and_comes_back(
    body: str, caplog: pytest.LogCaptureFixture
) -> None:
    foreign = message(body)
    assert works(foreign) == [foreign["MessageId"]]
    assert [vars(line)["message_id"] for line in caplog.records] == [foreign["MessageId"]]


def test_a_kind_reads_the_source_that_the_deployment_names(aws: Cloud, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SOURCE_URL, "postgresql://localhost/shop")
    monkeypatch.setenv(SOURCE_ROWS_PER_SECOND, "10000")

    def play(ctx: JobContext, args: Args) -> Result:
        assert ctx.source.url == "postgresql://localhost/shop"
        return Result(rows=ctx.source.rows_per_second)

    result = scripted(aws, play).result
    assert result is not None
    assert result.rows == 10000


def test_a_source_may_be_a_secret_that_is_read_at_each_use(aws: Cloud, monkeypatch: pytest.MonkeyPatch) -> None:
    arn = clients.secrets().create_secret(Name="source", SecretString="postgresql://u:p@db/shop")["ARN"]
    monkeypatch.setenv(SOURCE_SECRET_ARN, arn)
    seen: list[str] = []

    def play(ctx: JobContext, args: Args) -> None:
        seen.append(ctx.source.url)

    for password in ("p", "rotated"):
        clients.secrets().put_secret_value(SecretId=arn, SecretString=f"postgresql://u:{password}@db/shop")
        scripted(aws, play)
    assert seen == ["postgresql://u:p@db/shop", "postgresql://u:rotated@db/shop"]


def test_a_deployment_without_a_source_says_so_where_a_kind_asks(aws: Cloud) -> None:
    def play(ctx: JobContext, args: Args) -> Result:
        return Result(rows=len(ctx.source.url))

    error = scripted(aws, play).error
    assert error is not None
    assert (error.type, "infra/config.py" in error.message) == ("NoSource", True)


def test_logs_tell_which_job_but_neither_its_args_nor_what_it_said(
    aws: Cloud, caplog: pytest.LogCaptureFixture
) -> None:
    job = add_job(kind="script", args='{"text":"seller 48812"}')

    def play(ctx: JobContext, args: Args) -> Result:
        ctx.log.info("paging", page=3, name="of the page", message="not the log's own")
        raise RuntimeError("of seller 48812")

    with playing(play):
        works(received(aws, job))
    assert "48812" not in caplog.text
    (line,) = [record for record in caplog.records if record.message == "paging"]
    assert (vars(line)["page"], vars(line)["name_"]) == (3, "of the page")


def moved_by_hand(aws: Cloud, job: Job) -> dict[str, Any]:
    """A dead letter as SQS moves it from its queue into a lane's: with its attributes."""
    bell = bells.bell()
    bell.queues.dead_letter(dead_letter(job))
    (letter,) = aws.sqs.receive_message(QueueUrl=aws.queues["dead-letters"], MessageAttributeNames=["All"])["Messages"]
    return dict(letter)


def test_a_dead_letter_that_is_moved_to_its_lane_by_hand_tries_the_job_again_once(aws: Cloud) -> None:
    old = add_job(state=State.FAILED, finished_at=now())
    letter = moved_by_hand(aws, old)
    assert works(letter) == []
    new = job_in_table(old.id).retried_as
    assert new is not None
    assert works(letter) == []  # delivered twice
    assert (job_in_table(old.id).retried_as, job_in_table(new).state) == (new, State.QUEUED)


@pytest.mark.parametrize("state", [State.RUNNING, State.SUCCEEDED])
def test_a_dead_letter_of_a_job_that_cannot_be_tried_again_is_forgotten(aws: Cloud, state: State) -> None:
    job = job_in_table(add_job(state=state).id)
    assert works(moved_by_hand(aws, job)) == []
    assert job_in_table(job.id) == job


def test_a_dead_letter_comes_back_when_the_service_does_not_answer(aws: Cloud) -> None:
    letter = moved_by_hand(aws, add_job(state=State.FAILED, finished_at=now()))
    with troubled(clients.dynamodb(), *[BUSY] * 20):
        assert works(letter) == [letter["MessageId"]]
