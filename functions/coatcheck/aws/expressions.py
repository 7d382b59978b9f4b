"""Writes as DynamoDB's expressions. Every name is aliased, so that no reserved word is in the way."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from coatcheck.aws.attributes import attribute
from coatcheck.row import Value
from coatcheck.write import AnyOf, Condition, Test, Update, Write

if TYPE_CHECKING:
    from types_boto3_dynamodb.type_defs import AttributeValueTypeDef


@dataclass(kw_only=True)
class Expressions:
    """The expressions of one write, and the names and values that they refer to."""

    names: dict[str, str] = field(default_factory=dict)
    values: "dict[str, AttributeValueTypeDef]" = field(default_factory=dict)
    condition: str = ""
    update: str = ""

    @classmethod
    def of(cls, write: Write, key_attribute: str) -> "Expressions":
        made = cls()
        terms = [made._term(condition) for condition in write.when]
        if isinstance(write, Update):
            terms.insert(0, f"attribute_exists({made._name(key_attribute)})")
            made.update = made._update(write)
        made.condition = " AND ".join(terms)
        return made

    def _term(self, condition: Condition | AnyOf) -> str:
        if isinstance(condition, AnyOf):
            return f"({' OR '.join(self._term(each) for each in condition.conditions)})"
        name = self._name(condition.name)
        match condition.test:
            case Test.ABSENT:
                return f"attribute_not_exists({name})"
            case Test.ONE_OF:
                options = condition.value if isinstance(condition.value, list) else [condition.value]
                return f"{name} IN ({', '.join(self._value(option) for option in options)})"
            case Test.FEWER:
                return f"size({name}) < {self._value(condition.value)}"
            case Test.IS | Test.BELOW | Test.AT_MOST | Test.ABOVE:
                return f"{name} {condition.test} {self._value(condition.value)}"

    def _update(self, write: Update) -> str:
        sets = [f"{self._name(name)} = {self._value(value)}" for name, value in write.set.items()]
        for name, value in write.set_if_absent.items():
            alias = self._name(name)
            sets.append(f"{alias} = if_not_exists({alias}, {self._value(value)})")
        removes = [self._name(name) for name in sorted(write.remove)]
        adds = [f"{self._name(name)} {self._value(number)}" for name, number in write.add.items()]
        clauses = {"SET": sets, "REMOVE": removes, "ADD": adds}
        return " ".join(f"{clause} {', '.join(parts)}" for clause, parts in clauses.items() if parts)

    def _name(self, name: str) -> str:
        """The alias of an attribute, or of an entry of a map."""
        parts = name.split(".")
        self.names |= {f"#{part}": part for part in parts}
        return ".".join(f"#{part}" for part in parts)

    def _value(self, value: Value) -> str:
        alias = f":v{len(self.values)}"
        self.values[alias] = attribute(value)
        return alias
