"""What the errors of AWS' SDK mean, by their codes."""

from collections.abc import Iterator
from contextlib import contextmanager

from botocore.exceptions import ClientError, HTTPClientError, IncompleteReadError
from botocore.exceptions import ConnectionError as NoConnection

from coatcheck.store import Unavailable

PASSING = frozenset(
    {
        "InternalError",
        "InternalServerError",
        "OperationAborted",
        "ProvisionedThroughputExceededException",
        "RequestLimitExceeded",
        "RequestThrottled",
        "RequestTimeout",
        "ServiceUnavailable",
        "SlowDown",
        "ThrottlingException",
        "TransactionConflictException",
        "TransactionInProgressException",
    }
)
"""Codes of refusals that pass by themselves."""

SERVER_ERROR = 500


def code_of(error: ClientError) -> str:
    return error.response.get("Error", {}).get("Code", "")


@contextmanager
def passing_errors() -> Iterator[None]:
    """Turn no answer, throttling and faults of the service into Unavailable; the rest flies."""
    try:
        yield
    except (HTTPClientError, NoConnection, IncompleteReadError) as error:  # timeouts, refused and broken connections
        raise Unavailable(type(error).__name__) from error
    except ClientError as error:
        status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
        if code_of(error) in PASSING or status >= SERVER_ERROR:
            raise Unavailable(code_of(error)) from error
        raise
