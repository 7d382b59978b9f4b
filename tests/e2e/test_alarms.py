"""Alarms go on and off on the live stack, by what is in its queues and in its table."""

import time

from tests.e2e.client import Client
from tests.e2e.live import LiveStack


def states(live: LiveStack) -> dict[str, str]:
    """The state of each alarm by its name, without the stack's."""
    pages = live.deployment.cloudwatch.get_paginator("describe_alarms").paginate(AlarmNamePrefix="coatcheck-local-")
    found = [alarm for page in pages for alarm in page["MetricAlarms"]]
    return {alarm["AlarmName"].removeprefix("coatcheck-local-"): alarm["StateValue"] for alarm in found}


def on(live: LiveStack) -> set[str]:
    return {name for name, state in states(live).items() if state == "ALARM"}


def test_a_dead_letter_is_an_alarm_until_it_is_gone_and_a_message_in_another_queue_is_none(live: LiveStack) -> None:
    live.purge("DeadLetterQueueUrl")
    live.wait_for(lambda: states(live)["dead-letters"] == "OK", within=60)
    with live.functions.paused_lane("bulk"):
        live.ring("bulk", "{}")
        live.deployment.sqs.send_message(QueueUrl=live.deployment.output("DeadLetterQueueUrl"), MessageBody="{}")
        live.wait_for(lambda: "dead-letters" in on(live), within=40)
        live.purge("DeadLetterQueueUrl")
        live.wait_for(lambda: states(live)["dead-letters"] == "OK", within=60)
        assert live.messages("BulkQueueUrl")
        live.purge("BulkQueueUrl")


def test_a_job_that_waits_too_long_is_an_alarm_of_its_lane_alone_until_it_runs(live: LiveStack, client: Client) -> None:
    with live.functions.paused_lane("interactive"):
        job_id = client.submit("probe")
        live.set_number(job_id, "ready_at", round((time.time() - 301) * 1000))
        live.supervise()
        live.wait_for(lambda: "oldest-wait-interactive" in on(live), within=40)
        assert "oldest-wait-bulk" not in on(live)
    client.wait_state(job_id, "succeeded", within=30)
    live.supervise()
    live.wait_for(lambda: states(live)["oldest-wait-interactive"] == "OK", within=60)
