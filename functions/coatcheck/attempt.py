"""An attempt as a pipeline of values: load the args, run the handler, make an outcome of how it ended."""

import json

from coatcheck.args import InvalidArgs, checked_args
from coatcheck.context import JobContext
from coatcheck.endings import Cancel, CancelRequested, OverLimit, Permanent, Snooze, YieldRequested
from coatcheck.job import MOST_MESSAGE_BYTES, MOST_TYPE_BYTES, Error
from coatcheck.kind import Kind
from coatcheck.outcome import ON_REQUEST, Cancelled, Failed, Outcome, Result, Snoozed, Succeeded, Yielded
from coatcheck.text import cut


def run_attempt(kind: Kind, context: JobContext, args: str) -> Outcome:
    """Run a kind's handler on its args (JSON) and say how it ended.

    A yield is always `advanced` here: the caller knows whether a checkpoint was saved. Lets LeaseLost pass: then
    nothing that this attempt did counts.
    """
    try:
        result: object = kind.handler(context, checked_args(kind.args, json.loads(args)))
    except YieldRequested:
        return Yielded(advanced=True)
    except CancelRequested:
        return ON_REQUEST
    except OverLimit as over:
        return Failed(error=over.error)
    except Snooze as snooze:
        return Snoozed(delay=snooze.delay)
    except Cancel as cancel:
        return Cancelled(reason=cut(str(cancel.reason), MOST_MESSAGE_BYTES))
    except Exception as error:  # noqa: BLE001  # the one attempt: whatever a kind's code raises is an ordinary failure
        hopeless = isinstance(error, (Permanent, InvalidArgs, *kind.retry.give_up_on))
        return Failed(error=described(error, retryable=not hopeless))
    if not isinstance(result, Result | None):
        wrong = TypeError(f"a job returns a Result or nothing, not {type(result).__name__}")
        return Failed(error=described(wrong, retryable=False))
    return Succeeded(result=result or Result())


def described(error: Exception, *, retryable: bool) -> Error:
    """An exception as the error that a client may see."""
    try:
        message = str(error)
    except Exception:  # noqa: BLE001  # an exception of a kind may not even be able to say what it is
        message = "it has no message"
    return Error(
        type=cut(type(error).__name__, MOST_TYPE_BYTES), message=cut(message, MOST_MESSAGE_BYTES), retryable=retryable
    )
