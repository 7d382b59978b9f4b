"""What a ring needs: the rows it looks at, the lanes, the queue of waits, the dead letters, what it removes."""

from dataclasses import dataclass

import msgspec

from coatcheck.limiter import Caps
from coatcheck.run import settings
from infra.lane import Lanes
from infra.python_function import PythonFunction
from infra.queue import Queue
from infra.results_bucket import ResultsBucket
from infra.tables import JobsTable, TenantsTable


@dataclass(frozen=True, kw_only=True)
class Doorbells:
    jobs: JobsTable
    tenants: TenantsTable
    caps: Caps
    lanes: Lanes
    wake: Queue
    dead_letters: Queue
    results: ResultsBucket

    def let_ring(self, function: PythonFunction) -> None:
        """Everything that the one rule may owe a job can be done by the function."""
        self.jobs.grant(function, "GetItem", "PutItem", "Query", "UpdateItem")
        self.jobs.grant_due(function)
        self.jobs.grant_waiting(function)
        self.tenants.grant(function, "GetItem")
        function.tell(**{settings.CAPS: msgspec.json.encode(self.caps).decode()})
        self.lanes.let_send(function)
        self.wake.let_send(function, variable=settings.WAKE_QUEUE)
        self.results.let_remove(function)
        self.dead_letters.let_send(function, variable=settings.DEAD_LETTER_QUEUE)
