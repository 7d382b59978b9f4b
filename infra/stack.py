"""The stack: a table of contents of what is deployed."""

import aws_cdk as cdk
from constructs import Construct

from infra.alarms import Alarms
from infra.api import Api
from infra.config import Config
from infra.dispatcher import Dispatcher
from infra.doorbells import Doorbells
from infra.function_code import function_code
from infra.kinds import caps_of, kind_routes, sound_kinds
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
        kinds = sound_kinds(files)

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

        doorbells = Doorbells(
            jobs=jobs,
            tenants=tenants,
            caps=caps_of(kinds, config),
            lanes=lanes,
            wake=wake,
            dead_letters=dead_letters,
            results=results,
        )
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

        operator = Operator(
            self, "Operator", config=config, code=code, jobs=jobs, idempotency=idempotency, tenants=tenants
        )
        schedules = Schedules(self, "Schedules", config=config, code=code, jobs=jobs, idempotency=idempotency)

        api = Api(
            self,
            "Api",
            config=config,
            code=code,
            kind_routes=kind_routes(kinds, config),
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
