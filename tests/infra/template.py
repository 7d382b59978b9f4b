"""A synthesized template, read by what its resources are, never by their logical ids."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import aws_cdk as cdk

from infra.acknowledgements import acknowledge, add_checks
from infra.config import Config
from infra.stack import CoatcheckStack

REPOSITORY = Path(__file__).parents[2]
FUNCTIONS = (
    "submit",
    "status",
    "cancel",
    "waiter",
    "authorizer",
    "dispatcher",
    "recorder",
    "wake",
    "worker-interactive",
    "worker-bulk",
    "supervisor",
    "unstarted",
    "operator",
    "ticker",
)
# The types of template fragments: JSON, as deep as it goes.
Json: TypeAlias = Any


@dataclass(frozen=True, kw_only=True)
class Resource:
    id: str
    type: str
    properties: Mapping[str, Json]
    deletion_policy: str = "Delete"


@dataclass(frozen=True, kw_only=True)
class Statement:
    """An IAM statement; resources as `Template.name_of` gives them."""

    effect: str
    actions: tuple[str, ...]
    resources: tuple[str, ...]
    principal: Json = None
    conditions: Json = None


@dataclass(frozen=True, kw_only=True)
class Template:
    config: Config
    resources: tuple[Resource, ...]
    outputs: Mapping[str, Json]
    messages: tuple[str, ...] = ()
    names: Mapping[str, str] = field(default_factory=dict)
    """What the outputs call a resource, by its logical id."""

    def of(self, type_: str) -> list[Resource]:
        return [resource for resource in self.resources if resource.type == type_]

    def one(self, type_: str, **properties: Json) -> Resource:
        (found,) = (
            resource
            for resource in self.of(type_)
            if all(resource.properties.get(name) == value for name, value in properties.items())
        )
        return found

    def function(self, name: str) -> Resource:
        return self.one("AWS::Lambda::Function", FunctionName=f"coatcheck-{self.config.stage}-{name}")

    def queue(self, name: str) -> Resource:
        return self.one("AWS::SQS::Queue", QueueName=f"coatcheck-{self.config.stage}-{name}")

    def output(self, name: str) -> Resource:
        """The resource that an output names."""
        return self.referred(self.outputs[name]["Value"])

    def referred(self, value: Json) -> Resource:
        """The resource that a Ref or GetAtt means."""
        id_ = logical_id(value)
        return next(resource for resource in self.resources if resource.id == id_)

    def feed(self, function: Resource) -> Resource:
        """The event source mapping of a function."""
        (found,) = (
            mapping
            for mapping in self.of("AWS::Lambda::EventSourceMapping")
            if logical_id(mapping.properties["FunctionName"]) == function.id
        )
        return found

    def environment(self, name: str) -> Mapping[str, Json]:
        variables: Mapping[str, Json] = self.function(name).properties["Environment"]["Variables"]
        return variables

    def allowed(self, function: Resource) -> list[Statement]:
        """What the function's role may do."""
        role = logical_id(function.properties["Role"])
        return [
            statement
            for policy in self.of("AWS::IAM::Policy")
            if role in (logical_id(attached) for attached in policy.properties["Roles"])
            for statement in self.statements(policy)
        ]

    def statements(self, holder: Resource, document: str = "PolicyDocument") -> Iterator[Statement]:
        for statement in holder.properties[document]["Statement"]:
            yield Statement(
                effect=statement["Effect"],
                actions=tuple(listed(statement["Action"])),
                resources=tuple(self.name_of(each) for each in listed(statement.get("Resource", []))),
                principal=statement.get("Principal"),
                conditions=statement.get("Condition"),
            )

    def name_of(self, value: Json) -> str:
        """An ARN in words: `JobsTable/index/due`. Resources without an output are called by their types."""
        match value:
            case str():
                return value
            case {"Fn::Join": ["", list() as parts]}:
                return "".join(self.name_of(part) for part in parts)
            case {"Fn::GetAtt": [id_, "Arn"]} | {"Ref": id_}:
                return self.names.get(id_) or self._type_name(id_)
            case {"Fn::GetAtt": [id_, attribute]}:
                return f"{self.name_of({'Ref': id_})}.{attribute}"
        raise AssertionError(f"no name for {value}")

    def _type_name(self, id_: str) -> str:
        return next((resource.type for resource in self.resources if resource.id == id_), id_)


def logical_id(value: Json) -> str:
    match value:
        case {"Ref": str(id_)} | {"Fn::GetAtt": [str(id_), _]}:
            return id_
    raise AssertionError(f"{value} refers to no resource")


def listed(value: Json) -> list[Json]:
    return value if isinstance(value, list) else [value]


def new_app(output: Path) -> cdk.App:
    """An app with the context of cdk.json, which skips bundling: nothing is downloaded."""
    context = json.loads((REPOSITORY / "cdk.json").read_text())["context"]
    return cdk.App(context={**context, "aws:cdk:bundling-stacks": []}, outdir=str(output))


def synthesized(config: Config, output: Path) -> Template:
    """The template of a stage, checked as `cdk synth` checks it. A finding fails the synth."""
    app = new_app(output)
    stack = CoatcheckStack(app, config=config)
    add_checks(app)
    acknowledge(stack, stage=config.stage)
    artifact = app.synth().get_stack_by_name(f"coatcheck-{config.stage}")
    outputs = artifact.template["Outputs"]
    return Template(
        config=config,
        resources=tuple(
            Resource(
                id=id_,
                type=resource["Type"],
                properties=resource.get("Properties", {}),
                deletion_policy=resource.get("DeletionPolicy", "Delete"),
            )
            for id_, resource in artifact.template["Resources"].items()
        ),
        outputs=outputs,
        messages=tuple(str(message.entry.data) for message in artifact.messages),
        names={logical_id(output["Value"]): re.sub(r"Url$", "", name) for name, output in outputs.items()},
    )
