"""How workers reach the database that kinds read from: a secret on AWS, an address on this machine."""

from coatcheck.run import settings
from infra.capacity import Source
from infra.python_function import PythonFunction


def connect_source(function: PythonFunction, source: Source) -> None:
    if source.secret_arn is not None:
        function.tell(**{settings.SOURCE_SECRET_ARN: source.secret_arn})
        function.allow("secretsmanager:GetSecretValue", on=[source.secret_arn])
    if source.url is not None:
        function.tell(**{settings.SOURCE_URL: source.url})
    if source.rows_per_second_per_worker is not None:
        function.tell(**{settings.SOURCE_ROWS_PER_SECOND: str(source.rows_per_second_per_worker)})
