"""The stack: a table of contents of what is deployed."""

import sys

import aws_cdk as cdk
from constructs import Construct

from coatcheck import registry
from coatcheck.registry import BrokenKind
from infra.alarms import Alarms
from infra.api import Api
from infra.config import Config
from infra.dispatcher import Dispatcher
from infra.doorbells import Doorbells
from infra.function_code import FunctionCode, function_code
from infra.lane import Lanes
from infra.link_key import LinkKey
from infra.operator import Operator
from infra.private_bucket import AccessLogs
from infra.python_function import PythonFunction
from infra.queue import Queue
from infra.recorder import Recorder
from infra.results_bucket import ResultsBucket
from infra.schedules import Schedules
from infra.stream import LostRecords
from infra.supervisor import Supervisor
from infra.tables import IdempotencyTable, JobsTable, TenantsTable
from infra.unstarted import Unstarted
from infra.wake import Wake


class CoatcheckStack(cdk.Stack):
    def __init__(self, scope: Construct, *, config: Config) -> None:
        super().__init__(
            scope,
            f"coatcheck-{config.stage}",
            description="Coatcheck: long-running jobs behind an HTTP API",
            # The emulator knows no roles of a bootstrapped account; whoever deploys acts there as themselves.
            synthesizer=cdk.CliCredentialsStackSynthesizer() if config.is_local else None,
            termination_protection=config.stage == "prod",
        )
        files = function_code(config.stage)
        code = files.asset()

        jobs = JobsTable(self, "Jobs", config=config)
        idempotency = IdempotencyTable(self, "Idempotency", config=config)
        tenants = TenantsTable(self, "Tenants", config=config)
        access_logs = AccessLogs(self, "AccessLogs", config=config)
        results = ResultsBucket(self, "Results", config=config, access_logs=access_logs)

        unstarted = Unstarted(self, "Unstarted", config=config, code=code, jobs=jobs)
        lanes = Lanes(
            self,
            "Lanes",
            config=config,
            code=code,
            jobs=jobs,
            idempotency=idempotency,
            results=results,
            unstarted=unstarted.queue,
        )
        wake = Queue(
            self,
            "WakeQueue",
            config=config,
            name="wake",
            keep=cdk.Duration.hours(config.queues.keep_wake_hours),
            visibility_seconds=config.queues.wake_visibility_seconds,
        )
        dead_letters = Queue(
            self,
            "DeadLetters",
            config=config,
            name="dead-letters",
            keep=cdk.Duration.days(config.queues.keep_dead_letters_days),
        )

        doorbells = Doorbells(jobs=jobs, lanes=lanes, wake=wake, dead_letters=dead_letters, results=results)
        lost_records = LostRecords(self, "LostRecords", config=config, access_logs=access_logs)
        dispatcher = Dispatcher(
            self,
            "Dispatcher",
            config=config,
            code=code,
            jobs=jobs,
            doorbells=doorbells,
            lost_records=lost_records,
        )
        recorder = Recorder(self, "Recorder", config=config, code=code, jobs=jobs, wake=wake, lost_records=lost_records)
        Wake(self, "Wake", config=config, code=code, doorbells=doorbells)
        supervisor = Supervisor(self, "Supervisor", config=config, code=code, doorbells=doorbells)

        operator = Operator(self, "Operator", config=config, code=code, jobs=jobs, idempotency=idempotency)
        schedules = Schedules(self, "Schedules", config=config, code=code, jobs=jobs, idempotency=idempotency)

        api = Api(
            self,
            "Api",
            config=config,
            code=code,
            kind_routes=kind_routes(files, config),
            jobs=jobs,
            idempotency=idempotency,
            tenants=tenants,
            results=results,
            link_key=LinkKey(self, "LinkKey"),
        )

        alarms = Alarms(self, "Alarms", config=config)
        alarms.watch_dead_letters(dead_letters)
        alarms.watch_lost_ticks(schedules.lost)
        for lane in lanes:
            alarms.watch_lane(lane)
        alarms.watch_age(unstarted.queue, seconds=config.alarms.oldest_unstarted_message_seconds)
        alarms.watch_age(wake, seconds=config.alarms.oldest_wake_message_seconds)
        alarms.watch_supervisor()
        for consumer in (dispatcher, recorder):
            alarms.watch_stream(consumer)
        alarms.watch_api(api)
        for construct in self.node.find_all():
            if isinstance(construct, PythonFunction):
                alarms.watch_function(construct)

        self._say(
            ApiUrl=api.http.api_endpoint,
            ApiId=api.http.api_id,
            JobsTable=jobs.table.table_name,
            IdempotencyTable=idempotency.table.table_name,
            TenantsTable=tenants.table.table_name,
            ResultsBucket=results.bucket.bucket_name,
            **{f"{lane.config.name.capitalize()}QueueUrl": lane.queue.url for lane in lanes},
            WakeQueueUrl=wake.url,
            UnstartedQueueUrl=unstarted.queue.url,
            DeadLetterQueueUrl=dead_letters.url,
            SupervisorFunction=supervisor.function.function.function_name,
            TickerFunction=schedules.ticker.function.function_arn,
            LostTicksQueueUrl=schedules.lost.url,
            ScheduleGroup=schedules.group.ref,
            ScheduleRole=schedules.role.role_arn,
            OperatorFunction=operator.function.function.function_name,
            AlarmTopic=alarms.topic.topic_arn,
        )

    def _say(self, **outputs: str) -> None:
        for name, value in outputs.items():
            cdk.CfnOutput(self, name, value=value)


class UnknownLane(Exception):
    """A kind wants a lane that this deployment does not have."""

    def __init__(self, kind: str, lane: str) -> None:
        super().__init__(f"the kind {kind!r} wants the lane {lane!r}, which infra/config.py does not have")
        self.kind = kind
        self.lane = lane


class RouteTaken(Exception):
    """Two kinds declare one route."""

    def __init__(self, route: str, *kinds: str) -> None:
        super().__init__(f"the kinds {' and '.join(kinds)} both declare the route {route}")
        self.route = route
        self.kinds = kinds


def kind_routes(files: FunctionCode, config: Config) -> dict[str, str]:
    """Which kind each route stands for, of the kinds that are deployed. Raises UnknownLane, RouteTaken.

    A kind that cannot be loaded has no route, and stops nobody else: its jobs are refused, with the reason in the logs.
    """
    lanes = {lane.name for lane in config.lanes}
    routes: dict[str, str] = {}
    for name in sorted(files.kinds()):
        try:
            kind = registry.find(name)
        except BrokenKind as error:
            print(f"warning: {error}", file=sys.stderr)  # noqa: T201  # the synth's own output
            continue
        if kind.lane not in lanes:
            raise UnknownLane(name, kind.lane)
        if kind.route is None:
            continue
        if kind.route in routes:
            raise RouteTaken(kind.route, routes[kind.route], name)
        routes[kind.route] = name
    return routes
