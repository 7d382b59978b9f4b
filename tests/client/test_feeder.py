"""The numbers that the emulator has none of are made as AWS makes them."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from coatcheck.load import LaneLoad, Load
from coatcheck.run.load_metrics import tell
from coatcheck_client.local.feeder import embedded, numbers

NOW = datetime(2026, 11, 10, 12, tzinfo=UTC)


def message(age: float, *, visible: bool) -> dict[str, Any]:
    return {"SentTimestamp": NOW.timestamp() - age, "IsVisible": visible}


@pytest.mark.parametrize(
    ("messages", "visible", "age"),
    [
        ([], 0, 0),
        ([message(5, visible=True), message(70, visible=False), message(9, visible=True)], 2, 70),
        ([message(-0.4, visible=True)], 1, 0),
    ],
)
def test_a_queue_has_as_many_messages_as_can_be_seen_and_is_as_old_as_its_oldest_hidden_or_not(
    messages: list[dict[str, Any]], visible: int, age: float
) -> None:
    made = numbers("coatcheck-local-bulk", messages, NOW.timestamp())
    assert {each["MetricName"]: each.get("Value") for each in made} == {
        "ApproximateNumberOfMessagesVisible": visible,
        "ApproximateAgeOfOldestMessage": age,
    }
    for each in made:
        assert each.get("Dimensions") == [{"Name": "QueueName", "Value": "coatcheck-local-bulk"}]
        assert each.get("Timestamp") == NOW


def test_what_the_supervisor_logs_becomes_the_metrics_that_it_means(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("POWERTOOLS_SERVICE_NAME", "coatcheck-local")
    waiting = LaneLoad(backlog=2, ready_since=NOW - timedelta(seconds=90))
    tell(3, Load(open_jobs=5, lanes={"bulk": waiting}), ("bulk",), NOW)
    found = [made for line in capsys.readouterr().out.splitlines() for made in embedded(line)]
    assert {namespace for namespace, _ in found} == {"Coatcheck"}
    seen = {
        (each["MetricName"], *(part["Value"] for part in each.get("Dimensions", []))): each.get("Values")
        for _, data in found
        for each in data
    }
    assert seen == {
        ("SupervisorRounds", "coatcheck-local"): [3],
        ("OpenJobs", "coatcheck-local"): [5],
        ("Backlog", "bulk", "coatcheck-local"): [2],
        ("OldestWait", "bulk", "coatcheck-local"): [90],
    }


@pytest.mark.parametrize("line", ["START RequestId: 1", "", "{}", '{"_aws"', "[1]", '"_aws"'])
def test_other_lines_are_no_metrics(line: str) -> None:
    assert list(embedded(line)) == []
