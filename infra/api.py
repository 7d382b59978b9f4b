"""The HTTP API, the only thing that the internet can reach."""

import json
from collections.abc import Mapping

import aws_cdk as cdk
import msgspec
from aws_cdk import aws_apigatewayv2 as apigateway
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from aws_cdk.aws_apigatewayv2 import HttpMethod
from aws_cdk.aws_apigatewayv2_authorizers import HttpLambdaAuthorizer, HttpLambdaResponseType
from aws_cdk.aws_apigatewayv2_integrations import HttpLambdaIntegration
from constructs import Construct

from coatcheck.route import ROUTES, kind_route
from coatcheck.run import settings
from infra.admission import admission_terms
from infra.capacity import FunctionSize
from infra.config import Config
from infra.link_key import LinkKey
from infra.python_function import PythonFunction
from infra.results_bucket import ResultsBucket
from infra.tables import IdempotencyTable, JobsTable, TenantsTable

# No addresses of callers: who asked is in the functions' logs, as a tenant.
ACCESS_LOG = {
    "time": "$context.requestTime",
    "request": "$context.requestId",
    "route": "$context.routeKey",
    "status": "$context.status",
    "milliseconds": "$context.responseLatency",
    "bytes": "$context.responseLength",
    "error": "$context.error.message",
    "authorizer_error": "$context.authorizer.error",
    "integration_error": "$context.integrationErrorMessage",
}


class Api(Construct):
    """Four functions behind routes, one that says who is calling."""

    def __init__(
        self,
        scope: Construct,
        id_: str,
        *,
        config: Config,
        code: lambda_.Code,
        kind_routes: Mapping[str, str],
        jobs: JobsTable,
        idempotency: IdempotencyTable,
        tenants: TenantsTable,
        results: ResultsBucket,
        link_key: LinkKey,
    ) -> None:
        super().__init__(scope, id_)
        self._config = config
        self._code = code
        self.http = apigateway.HttpApi(self, "Http", api_name=cdk.Stack.of(self).stack_name, create_default_stage=False)
        self._add_stage()
        self._authorizer = self._make_authorizer(tenants)
        signing = (self._submit(jobs, idempotency, tenants), self._status(jobs, results), self._waiter(jobs))
        for function in signing:
            link_key.let_sign(function)
        functions = (*signing, self._cancel(jobs))
        self._add_routes({function.name: function for function in functions}, kind_routes)

    def _submit(self, jobs: JobsTable, idempotency: IdempotencyTable, tenants: TenantsTable) -> PythonFunction:
        submit = self._function("submit", self._config.api_function)
        submit.tell_timings(self._config)
        submit.tell(**{settings.LANES: json.dumps([lane.name for lane in self._config.lanes])})
        for table in (jobs, idempotency):
            table.grant(submit, "ConditionCheckItem", "GetItem", "PutItem", "UpdateItem")
        tenants.grant(submit, "GetItem", "PutItem", "UpdateItem")
        submit.tell(**{settings.ADMISSION: msgspec.json.encode(admission_terms(self._config)).decode()})
        return submit

    def _status(self, jobs: JobsTable, results: ResultsBucket) -> PythonFunction:
        status = self._function("status", self._config.api_function)
        status.tell_timings(self._config)
        jobs.grant(status, "GetItem", "Query")
        jobs.grant_list(status)
        jobs.grant_waiting(status)
        results.let_sign_links(status)
        return status

    def _cancel(self, jobs: JobsTable) -> PythonFunction:
        cancel = self._function("cancel", self._config.api_function)
        cancel.tell_timings(self._config)
        jobs.grant(cancel, "GetItem", "UpdateItem")
        return cancel

    def _waiter(self, jobs: JobsTable) -> PythonFunction:
        """Held answers have a function and a concurrency of their own; when it is full, the gateway says so at once."""
        waiter = self._function("waiter", self._config.waiter_function, self._config.api.waiters)
        waiter.tell_timings(self._config)
        jobs.grant(waiter, "GetItem")
        jobs.grant_waiting(waiter)
        return waiter

    def _add_routes(self, functions: Mapping[str, PythonFunction], kind_routes: Mapping[str, str]) -> None:
        """Every route of the contract and of the kinds; what fits none is answered by `status`, with a problem."""
        told = json.dumps({f"POST {route}": kind for route, kind in kind_routes.items()})
        for name in ("submit", "status"):
            functions[name].tell(**{settings.ROUTES: told})
        for route in (*ROUTES, *map(kind_route, kind_routes)):
            self.http.add_routes(
                path=route.path,
                methods=[HttpMethod(method) for method in route.methods],
                integration=HttpLambdaIntegration(f"{route.function}{route.path}", functions[route.function].function),
                authorizer=None if route.public else self._authorizer,
            )
        fallback = HttpLambdaIntegration("status$default", functions["status"].function)
        apigateway.HttpRoute(
            self, "Default", http_api=self.http, route_key=apigateway.HttpRouteKey.DEFAULT, integration=fallback
        )

    def _make_authorizer(self, tenants: TenantsTable) -> HttpLambdaAuthorizer:
        authorizer = self._function("authorizer", self._config.api_function)
        tenants.grant(authorizer, "GetItem")
        if self._config.api.issuer is not None:
            authorizer.tell(**{settings.OIDC: msgspec.json.encode(self._config.api.issuer).decode()})
        return HttpLambdaAuthorizer(
            "Tenants",
            authorizer.function,
            authorizer_name="tenants",
            response_types=[HttpLambdaResponseType.SIMPLE],
            identity_source=["$request.header.Authorization"],
            results_cache_ttl=cdk.Duration.seconds(self._config.api.authorizer_cache_seconds),
        )

    def _function(self, name: str, size: FunctionSize, reserved_concurrency: int | None = None) -> PythonFunction:
        return PythonFunction(
            self,
            name.capitalize(),
            config=self._config,
            code=self._code,
            name=name,
            handler=name,
            size=size,
            reserved_concurrency=reserved_concurrency,
        )

    def _add_stage(self) -> None:
        access_logs = logs.LogGroup(
            self,
            "AccessLogs",
            retention=logs.RetentionDays[self._config.log_retention],
            removal_policy=cdk.RemovalPolicy.DESTROY,
        )
        apigateway.CfnStage(
            self,
            "Stage",
            api_id=self.http.api_id,
            stage_name="$default",
            auto_deploy=True,
            default_route_settings=apigateway.CfnStage.RouteSettingsProperty(
                throttling_rate_limit=self._config.api.requests_per_second,
                throttling_burst_limit=self._config.api.request_burst,
            ),
            access_log_settings=apigateway.CfnStage.AccessLogSettingsProperty(
                destination_arn=access_logs.log_group_arn, format=json.dumps(ACCESS_LOG)
            ),
        )
