"""The API: its routes, who guards them, and that nothing else can be reached from outside."""

import json
from dataclasses import replace
from pathlib import Path

import msgspec

from coatcheck.route import ROUTES
from coatcheck.run.settings import OIDC, Issuer
from coatcheck.waiting import LONGEST_SECONDS
from handlers.waiter import MARGIN_SECONDS
from infra.config import CONFIGS, Stage
from tests.infra.template import FUNCTIONS, Template, synthesized

NOTHING = ("$default", "status")
OPEN = {"$default", *(f"{method} {route.path}" for route in ROUTES if route.public for method in route.methods)}


def routes(template: Template) -> set[tuple[str, str]]:
    found = set()
    for route in template.of("AWS::ApiGatewayV2::Route"):
        _, (_, integration_ref) = route.properties["Target"]["Fn::Join"][1], route.properties["Target"]["Fn::Join"][1]
        integration = template.referred(integration_ref)
        function = template.referred(integration.properties["IntegrationUri"])
        name = function.properties["FunctionName"].removeprefix(f"coatcheck-{template.config.stage}-")
        found.add((route.properties["RouteKey"], name))
    return found


def kinds_routes(template: Template) -> dict[str, str]:
    told: dict[str, str] = json.loads(template.environment("submit")["ROUTES"])
    return told


def test_these_are_the_routes(template: Template) -> None:
    own = {(route, "submit") for route in kinds_routes(template)}
    known = {(f"{method} {route.path}", route.function) for route in ROUTES for method in route.methods}
    assert routes(template) == known | own | {NOTHING}


def test_a_kind_with_a_route_of_its_own_has_it(template: Template) -> None:
    assert kinds_routes(template)["POST /v1/reports/gst-export"] == "gst-export"


def test_submit_knows_which_lanes_there_are(template: Template) -> None:
    lanes = json.loads(template.environment("submit")["LANES"])
    assert lanes == [lane.name for lane in template.config.lanes]


def test_every_route_but_the_public_ones_asks_who_is_calling(template: Template) -> None:
    for route in template.of("AWS::ApiGatewayV2::Route"):
        if route.properties["RouteKey"] in OPEN:
            assert route.properties["AuthorizationType"] == "NONE"
        else:
            assert route.properties["AuthorizationType"] == "CUSTOM"
            assert template.referred(route.properties["AuthorizerId"]).type == "AWS::ApiGatewayV2::Authorizer"


def test_a_signed_link_is_the_only_public_address_of_something_that_is_somebodys() -> None:
    assert {route.path for route in ROUTES if route.public and "{" in route.path} == {"/v1/results/{token}"}


def test_links_are_signed_with_a_secret_that_no_template_holds(template: Template) -> None:
    (secret,) = template.of("AWS::SecretsManager::Secret")
    assert secret.properties["GenerateSecretString"]["PasswordLength"] >= 64
    assert "SecretString" not in secret.properties


def test_held_answers_take_nothing_from_the_others(template: Template) -> None:
    reserved = {
        function.properties["FunctionName"].rpartition("-")[2]: function.properties["ReservedConcurrentExecutions"]
        for function in template.of("AWS::Lambda::Function")
        if "ReservedConcurrentExecutions" in function.properties
    }
    assert reserved == {"waiter": template.config.api.waiters}


def test_an_answer_is_held_no_longer_than_its_function_and_the_gateway_live(template: Template) -> None:
    timeout = template.function("waiter").properties["Timeout"]
    assert LONGEST_SECONDS + MARGIN_SECONDS <= timeout <= 30


def test_the_authorizer_is_asked_once_a_minute_for_each_key(template: Template) -> None:
    (authorizer,) = template.of("AWS::ApiGatewayV2::Authorizer")
    assert authorizer.properties["AuthorizerResultTtlInSeconds"] == 60
    assert authorizer.properties["IdentitySource"] == ["$request.header.Authorization"]
    assert authorizer.properties["EnableSimpleResponses"] is True
    assert authorizer.properties["AuthorizerPayloadFormatVersion"] == "2.0"


def test_an_issuer_of_the_config_is_told_to_the_authorizer_alone(template: Template, tmp_path: Path) -> None:
    assert OIDC not in template.environment("authorizer")
    issuer = Issuer(url="https://id.example", audience="coatcheck", tenant_claim="org")
    config = CONFIGS[Stage.LOCAL]
    made = synthesized(replace(config, api=replace(config.api, issuer=issuer)), tmp_path)
    assert msgspec.json.decode(made.environment("authorizer")[OIDC], type=Issuer) == issuer
    assert not [name for name in FUNCTIONS if name != "authorizer" and OIDC in made.environment(name)]


def test_requests_are_throttled_and_logged_without_addresses(template: Template) -> None:
    (stage,) = template.of("AWS::ApiGatewayV2::Stage")
    limits = stage.properties["DefaultRouteSettings"]
    api = CONFIGS[template.config.stage].api
    assert (limits["ThrottlingRateLimit"], limits["ThrottlingBurstLimit"]) == (
        api.requests_per_second,
        api.request_burst,
    )
    access_log = stage.properties["AccessLogSettings"]
    assert "RetentionInDays" in template.referred(access_log["DestinationArn"]).properties
    logged = json.loads(access_log["Format"])
    assert {"request", "route", "status"} <= set(logged)
    assert not [value for value in logged.values() if "sourceIp" in value or "userAgent" in value]


def test_only_the_api_calls_functions_from_outside(template: Template) -> None:
    for permission in template.of("AWS::Lambda::Permission"):
        assert permission.properties["Principal"] == "apigateway.amazonaws.com"
        assert "SourceArn" in permission.properties
    assert not template.of("AWS::Lambda::Url")


def test_no_resource_policy_lets_everybody_in(template: Template) -> None:
    for kind in ("AWS::SQS::QueuePolicy", "AWS::S3::BucketPolicy", "AWS::SNS::TopicPolicy"):
        for policy in template.of(kind):
            for statement in template.statements(policy):
                if statement.effect == "Allow":
                    assert list(statement.principal) == ["Service"]
                    assert "aws:SourceAccount" in statement.conditions["StringEquals"]


def test_buckets_are_closed_to_the_public(template: Template) -> None:
    for bucket in template.of("AWS::S3::Bucket"):
        assert set(bucket.properties["PublicAccessBlockConfiguration"].values()) == {True}


def test_nothing_else_has_an_address(template: Template) -> None:
    reachable = {"AWS::ApiGatewayV2::Api", "AWS::ApiGateway::RestApi", "AWS::Lambda::Url", "AWS::AppSync::GraphQLApi"}
    reachable |= {"AWS::ElasticLoadBalancingV2::LoadBalancer", "AWS::CloudFront::Distribution"}
    (only,) = (resource for resource in template.resources if resource.type in reachable)
    assert only == template.output("ApiId")
    assert only.properties["ProtocolType"] == "HTTP"


def test_production_knows_no_probe(templates: dict[Stage, Template]) -> None:
    assert "probe" not in kinds_routes(templates[Stage.PROD]).values()
