"""Ticks that became no job: by the message that is kept of each, it is known who gave it up, and why."""

import json
from typing import Any

import pytest

from coatcheck_client.lost_ticks import lost_tick

EVENT = {"schedule": "nightly", "scheduled_time": "2026-11-30T21:00:00Z", "tenant": "acme"}


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        (
            {"Body": json.dumps({"requestPayload": EVENT, "responsePayload": {"errorMessage": "no such kind"}})},
            ("nightly", "2026-11-30T21:00:00Z", "no such kind", EVENT),
        ),
        (
            {
                "Body": json.dumps(EVENT | {"scheduled_time": "<aws.scheduler.scheduled-time>"}),
                "MessageAttributes": {
                    "SCHEDULED_TIME": {"StringValue": "2026-11-30T21:00:00Z", "DataType": "String"},
                    "ERROR_MESSAGE": {"StringValue": "throttled", "DataType": "String"},
                },
            },
            ("nightly", "2026-11-30T21:00:00Z", "throttled", EVENT),
        ),
        ({"Body": "hello"}, ("(not a tick)", "", "", None)),
        ({"Body": "[]"}, ("(not a tick)", "", "", None)),
        ({"Body": '{"requestPayload": 7}'}, ("(not a tick)", "", "", None)),
    ],
)
def test_a_lost_tick_is_known_by_whoever_gave_it_up(message: Any, expected: tuple[object, ...]) -> None:
    found = lost_tick(message | {"ReceiptHandle": "r"})
    assert (found.schedule, found.scheduled_time, found.reason, found.event) == expected
