"""The operators' function: no event reaches it but an invocation by whoever may invoke it."""

import json

import msgspec
from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from coatcheck.run import settings
from infra.admission import admission_terms
from infra.config import Config
from infra.python_function import PythonFunction
from infra.tables import IdempotencyTable, JobsTable, TenantsTable


class Operator(Construct):
    def __init__(
        self,
        scope: Construct,
        id_: str,
        *,
        config: Config,
        code: lambda_.Code,
        jobs: JobsTable,
        idempotency: IdempotencyTable,
        tenants: TenantsTable,
    ) -> None:
        super().__init__(scope, id_)
        self.function = PythonFunction(
            self,
            "Operator",
            config=config,
            code=code,
            name="operator",
            handler="operator",
            size=config.ring_function,
        )
        self.function.tell_timings(config)
        self.function.tell(**{settings.LANES: json.dumps([lane.name for lane in config.lanes])})
        self.function.tell(**{settings.ADMISSION: msgspec.json.encode(admission_terms(config)).decode()})
        for table in (jobs, idempotency, tenants):
            table.grant(self.function, "GetItem", "PutItem", "UpdateItem")
        jobs.grant(self.function, "Query")
        jobs.grant_waiting(self.function)
