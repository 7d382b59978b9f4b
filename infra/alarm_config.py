"""The numbers of the alarms."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class AlarmConfig:
    """From when on somebody is woken; for how long a job may wait, each lane says itself."""

    period_seconds: int = 60
    """How often queues and waits are judged. SQS has a number a minute."""

    oldest_wake_message_seconds: int = 1800
    """Above the longest delay of a wake message, 15 minutes."""

    oldest_unstarted_message_seconds: int = 300
    supervisor_silent_minutes: int = 5
    iterator_age_seconds: int = 300
    count_within_minutes: int = 5
    """Errors and throttles are counted over so long."""

    function_errors: int = 3
    worker_errors: int = 10
    """A worker that died or hung is an error of its function, and is made up for: only many of them are trouble."""

    function_throttles: int = 10
    waiter_throttles: int = 1000
    """The waiter refuses when it is full, as it should; its clients poll instead."""

    api_errors: int = 50

    def errors(self, function: str) -> int:
        return self.worker_errors if function.startswith("worker-") else self.function_errors

    def throttles(self, function: str) -> int:
        return self.waiter_throttles if function == "waiter" else self.function_throttles
