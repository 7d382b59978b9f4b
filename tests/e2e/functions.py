"""The functions of the live stack: how they are configured, and meanwhile otherwise."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec

from coatcheck.limiter import Caps
from coatcheck.run.settings import CAPS

if TYPE_CHECKING:
    from types_boto3_lambda import LambdaClient
    from types_boto3_lambda.type_defs import FunctionConfigurationResponseTypeDef


@dataclass(frozen=True)
class Functions:
    client: "LambdaClient"

    @contextmanager
    def paused_lane(self, lane: str) -> Iterator[None]:
        """No message of the lane reaches its worker meanwhile."""
        functions = self.client
        (mapping,) = [
            each["UUID"]
            for each in functions.list_event_source_mappings()["EventSourceMappings"]
            if each["FunctionArn"].endswith(f"worker-{lane}")
        ]
        functions.update_event_source_mapping(UUID=mapping, Enabled=False)
        try:
            yield
        finally:
            functions.update_event_source_mapping(UUID=mapping, Enabled=True)

    def configuration(self, word: str) -> "FunctionConfigurationResponseTypeDef":
        """How the function whose name ends so is configured."""
        return self.client.get_function_configuration(FunctionName=self._name(word))

    def paced(self, rows_per_second: int) -> AbstractContextManager[None]:
        """Workers of the interactive lane read the source at a pace meanwhile."""
        before = self.configuration("worker-interactive")["Environment"]["Variables"]
        paced = {**before, "SOURCE_ROWS_PER_SECOND": str(rows_per_second)}
        return self._configured("worker-interactive", {"Environment": {"Variables": paced}})

    def shorter_timeout(self, word: str, seconds: int) -> AbstractContextManager[None]:
        """A function's time is shorter meanwhile."""
        return self._configured(word, {"Timeout": seconds})

    @contextmanager
    def caps(self, caps: Caps) -> Iterator[None]:
        """All functions that know of caps are told of these meanwhile."""
        text = msgspec.json.encode(caps).decode()
        with ExitStack() as changed:
            for each in self.client.list_functions()["Functions"]:
                before = each["Environment"]["Variables"]
                if CAPS in before:
                    told = {"Environment": {"Variables": {**before, CAPS: text}}}
                    changed.enter_context(self._configured(each["FunctionName"], told))
            yield

    @contextmanager
    def _configured(self, word: str, change: dict[str, Any]) -> Iterator[None]:
        functions, name = self.client, self._name(word)
        before: dict[str, Any] = {**self.configuration(word)}
        functions.update_function_configuration(FunctionName=name, **change)
        try:
            yield
        finally:
            functions.update_function_configuration(FunctionName=name, **{each: before[each] for each in change})

    @contextmanager
    def reserved_concurrency(self, word: str, number: int) -> Iterator[None]:
        """A function runs so often at once meanwhile; the emulator passes over what the template says of it."""
        functions, name = self.client, self._name(word)
        functions.put_function_concurrency(FunctionName=name, ReservedConcurrentExecutions=number)
        try:
            yield
        finally:
            functions.delete_function_concurrency(FunctionName=name)

    def _name(self, word: str) -> str:
        """The full name of the function whose name ends so."""
        return next(
            each["FunctionName"]
            for each in self.client.list_functions()["Functions"]
            if each["FunctionName"].endswith(word)
        )
