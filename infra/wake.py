"""The wake queue: waits of up to a quarter of an hour, and what the stream could not deliver."""

from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from infra.config import Config
from infra.doorbells import Doorbells
from infra.python_function import PythonFunction


class Wake(Construct):
    def __init__(self, scope: Construct, id_: str, *, config: Config, code: lambda_.Code, doorbells: Doorbells) -> None:
        super().__init__(scope, id_)
        function = PythonFunction(
            self, "Wake", config=config, code=code, name="wake", handler="wake", size=config.ring_function
        )
        function.tell_timings(config)
        doorbells.let_ring(function)
        doorbells.wake.feed(
            function,
            batch_size=config.queues.wake_batch_size,
            maximum_concurrency=config.queues.wake_maximum_concurrency,
        )
