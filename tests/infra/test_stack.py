"""The synth: clean on every stage, and unclean where it should be."""

import json
import re
import runpy
from collections.abc import Mapping
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path

import pytest
from aws_cdk import aws_iam as iam

from coatcheck.registry import find
from coatcheck.run.settings import Issuer
from infra.acknowledgements import ACKNOWLEDGED, acknowledge, add_checks
from infra.capacity import Network, Source
from infra.config import CONFIGS, Stage
from infra.function_code import function_code
from infra.kinds import RouteTaken, UnknownLane, kind_routes, sound_kinds
from infra.stack import CoatcheckStack
from tests.infra.template import FUNCTIONS, REPOSITORY, Template, new_app, synthesized

SECRET = "arn:aws:secretsmanager:ap-south-1:123456789012:secret:shop-AbCdEf"
OUTPUTS = {
    "ApiUrl",
    "ApiId",
    "JobsTable",
    "IdempotencyTable",
    "TenantsTable",
    "ResultsBucket",
    "InteractiveQueueUrl",
    "BulkQueueUrl",
    "WakeQueueUrl",
    "UnstartedQueueUrl",
    "DeadLetterQueueUrl",
    "SupervisorFunction",
    "OperatorFunction",
    "TickerFunction",
    "LostTicksQueueUrl",
    "ScheduleGroup",
    "ScheduleRole",
    "AlarmTopic",
}


def test_a_synth_passes_every_check_without_a_warning(template: Template) -> None:
    assert template.messages == ()


def test_the_outputs_are_what_commands_go_by(template: Template) -> None:
    assert set(template.outputs) == OUTPUTS


def test_a_synth_fails_for_a_wildcard_that_nobody_acknowledged(tmp_path: Path) -> None:
    app = new_app(tmp_path)
    stack = CoatcheckStack(app, config=CONFIGS[Stage.DEV])
    add_checks(app)
    acknowledge(stack, stage=Stage.DEV)
    role = iam.Role(stack, "Careless", assumed_by=iam.ServicePrincipal("lambda.amazonaws.com"))
    role.add_to_policy(iam.PolicyStatement(actions=["s3:*"], resources=["*"]))
    with pytest.raises(RuntimeError, match="ValidationFailed"):
        app.synth()
    careless = {finding for finding, path in findings(tmp_path) if path.startswith("Careless/")}
    assert careless == {"AwsSolutions-IAM5[Action::s3:*]", "AwsSolutions-IAM5[Resource::*]"}


def test_a_synth_fails_for_a_message_that_comes_back_too_early(tmp_path: Path) -> None:
    config = CONFIGS[Stage.DEV]
    early = tuple(replace(lane, visibility_margin_seconds=-60) for lane in config.lanes)
    with pytest.raises(RuntimeError, match="ValidationFailed"):
        synthesized(replace(config, lanes=early), tmp_path)


def findings(output: Path) -> set[tuple[str, str]]:
    """What the checks found, and the path below the stack where."""
    report = json.loads((output / "validation-report.json").read_text())
    return {
        (violation["ruleName"], construct["constructPath"].partition("/")[2])
        for plugin in report["pluginReports"]
        for violation in plugin["violations"]
        for construct in violation["violatingConstructs"]
    }


def test_each_acknowledgement_is_of_something_that_is_found(tmp_path: Path) -> None:
    app = new_app(tmp_path)
    CoatcheckStack(app, config=CONFIGS[Stage.LOCAL])
    add_checks(app)
    with pytest.raises(RuntimeError, match="ValidationFailed"):
        app.synth()
    found = findings(tmp_path)
    for entry in ACKNOWLEDGED:
        rule = re.sub(r"\\\{.+?\\\}", ".+", re.escape(entry.finding))
        assert any(re.fullmatch(rule, finding) and fnmatchcase(path, entry.where) for finding, path in found), entry
        assert len(entry.reason) > 40


@pytest.fixture(scope="module")
def connected(tmp_path_factory: pytest.TempPathFactory) -> Template:
    """Production with a source in a private network."""
    config = CONFIGS[Stage.PROD]
    network = Network(subnet_ids=("subnet-0a1b2c3d", "subnet-1a2b3c4d"), security_group_ids=("sg-0a1b2c3d",))
    layer = "arn:aws:lambda:ap-south-1:123456789012:layer:fonts:3"
    interactive, bulk = config.lanes
    return synthesized(
        replace(
            config,
            source=replace(config.source, secret_arn=SECRET),
            lanes=(replace(interactive, network=network), replace(bulk, network=network, layer_arns=(layer,))),
        ),
        tmp_path_factory.mktemp("connected"),
    )


@pytest.mark.parametrize("lane", ["interactive", "bulk"])
def test_workers_reach_a_private_source(connected: Template, lane: str) -> None:
    worker = connected.function(f"worker-{lane}")
    assert worker.properties["VpcConfig"] == {
        "SubnetIds": ["subnet-0a1b2c3d", "subnet-1a2b3c4d"],
        "SecurityGroupIds": ["sg-0a1b2c3d"],
    }
    environment = connected.environment(f"worker-{lane}")
    assert environment["SOURCE_SECRET_ARN"] == SECRET
    assert environment["SOURCE_ROWS_PER_SECOND"] == "10000"
    assert "SOURCE_URL" not in environment
    secrets = [each for each in connected.allowed(worker) if "secretsmanager:GetSecretValue" in each.actions]
    assert [each.resources for each in secrets] == [(SECRET,)]


def test_lambda_may_connect_workers_to_the_network_and_nobody_else(connected: Template) -> None:
    for function in connected.of("AWS::Lambda::Function"):
        actions = {action for statement in connected.allowed(function) for action in statement.actions}
        name = function.properties["FunctionName"]
        in_network = "VpcConfig" in function.properties
        assert ("ec2:CreateNetworkInterface" in actions) == in_network == ("worker" in name)
        assert (SECRET in {resource for each in connected.allowed(function) for resource in each.resources}) == (
            "worker" in name
        )


def test_the_authorizer_alone_knows_an_issuer_if_there_is_one(template: Template, tmp_path: Path) -> None:
    assert not [name for name in FUNCTIONS if "OIDC" in template.environment(name)]
    config = CONFIGS[Stage.DEV]
    issuer = Issuer(url="https://id.example", audience="coatcheck", tenant_claim="org")
    told = synthesized(replace(config, api=replace(config.api, issuer=issuer)), tmp_path)
    assert [name for name in FUNCTIONS if "OIDC" in told.environment(name)] == ["authorizer"]
    assert json.loads(told.environment("authorizer")["OIDC"])["tenant_claim"] == "org"


def test_a_lane_has_layers_of_its_own(connected: Template) -> None:
    assert "Layers" not in connected.function("worker-interactive").properties
    (layer,) = connected.function("worker-bulk").properties["Layers"]
    assert layer.endswith(":layer:fonts:3")


def test_on_this_machine_workers_get_an_address(tmp_path: Path) -> None:
    source = Source(url="postgresql://localhost:5433/shop")
    local = synthesized(replace(CONFIGS[Stage.LOCAL], source=source), tmp_path)
    environment = local.environment("worker-interactive")
    assert environment["SOURCE_URL"] == "postgresql://localhost:5433/shop"
    assert "SOURCE_ROWS_PER_SECOND" not in environment


def test_the_emulator_is_deployed_to_with_the_credentials_at_hand(tmp_path: Path) -> None:
    stack = CoatcheckStack(new_app(tmp_path), config=CONFIGS[Stage.LOCAL])
    assert type(stack.synthesizer).__name__ == "CliCredentialsStackSynthesizer"


def test_production_is_not_taken_down_by_accident(templates: Mapping[Stage, Template], tmp_path: Path) -> None:
    stacks = {stage: CoatcheckStack(new_app(tmp_path / stage), config=CONFIGS[stage]) for stage in Stage}
    assert [stage for stage, stack in stacks.items() if stack.termination_protection] == [Stage.PROD]
    assert {stage: stack.stack_name for stage, stack in stacks.items()} == {
        stage: f"coatcheck-{stage}" for stage in templates
    }


KIND = """
from dataclasses import dataclass
from coatcheck import JobContext, Result, job

@dataclass(frozen=True, kw_only=True)
class Args:
    pass

@job({declared})
def {name}(ctx: JobContext, args: Args) -> Result:
    return Result()
"""


@pytest.fixture
def jobs_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of kinds beside the real one."""
    folder = tmp_path / "jobs"
    folder.mkdir()
    monkeypatch.setattr("jobs.__path__", [str(folder)])
    return folder


def test_a_kind_that_wants_an_unknown_lane_stops_the_synth(jobs_folder: Path) -> None:
    (jobs_folder / "frames.py").write_text(KIND.format(name="frames", declared='lane="video"'))
    with pytest.raises(UnknownLane, match="'frames' wants the lane 'video'"):
        kind_routes(sound_kinds(replace(function_code(Stage.DEV), root=jobs_folder.parent)), CONFIGS[Stage.DEV])


def test_what_stops_the_synth_is_said_plainly_with_what_to_do(
    jobs_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (jobs_folder / "frames.py").write_text(KIND.format(name="frames", declared='lane="video"'))
    monkeypatch.setattr("infra.stack.sound_kinds", lambda _: [find("frames")])
    app = new_app(jobs_folder)
    monkeypatch.setattr("aws_cdk.App", lambda: app)
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(REPOSITORY / "app.py"))
    said = str(ended.value.code)
    assert said.startswith("error: the kind 'frames' wants the lane 'video', which this stage does not have")
    assert "take one of interactive, bulk, or add a LaneConfig to infra/config.py" in said


def test_two_kinds_with_one_route_stop_the_synth(jobs_folder: Path) -> None:
    for name in ("refund_all", "refund_one"):
        (jobs_folder / f"{name}.py").write_text(KIND.format(name=name, declared='route="/v1/refunds"'))
    with pytest.raises(RouteTaken, match="refund-all and refund-one both declare the route /v1/refunds"):
        kind_routes(sound_kinds(replace(function_code(Stage.DEV), root=jobs_folder.parent)), CONFIGS[Stage.DEV])


def test_the_cdk_command_runs_this_app() -> None:
    assert json.loads((REPOSITORY / "cdk.json").read_text())["app"].endswith("app.py")


def test_a_kind_that_cannot_be_loaded_stops_no_deployment(
    jobs_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (jobs_folder / "broken.py").write_text("raise RuntimeError('not today')\n")
    kind_routes(sound_kinds(replace(function_code(Stage.DEV), root=jobs_folder.parent)), CONFIGS[Stage.DEV])
    assert "'broken'" in capsys.readouterr().err
