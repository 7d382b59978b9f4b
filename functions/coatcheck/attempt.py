"""An attempt as a pipeline of values: load the args, run the handler, make an outcome of how it ended."""

import json

from coatcheck.args import InvalidArgs, checked_args
from coatcheck.context import JobContext
from coatcheck.endings import Cancel, CancelRequested, Permanent, Snooze, YieldRequested
from coatcheck.job import Error
from coatcheck.kind import Kind
from coatcheck.outcome import Cancelled, Failed, Outcome, Result, Snoozed, Succeeded, Yielded

MOST_MESSAGE_BYTES = 1024


def run_attempt(kind: Kind, context: JobContext, args: str) -> Outcome:
    """Run a kind's handler on its args (JSON) and say how it ended.

    A yield is always `advanced` here: the caller knows whether a checkpoint was saved. Lets LeaseLost pass: then
    nothing that this attempt did counts.
    """
    try:
        result = kind.handler(context, checked_args(kind.args, json.loads(args)))
    except YieldRequested:
        return Yielded(advanced=True)
    except CancelRequested:
        return Cancelled(reason="cancelled on request")
    except Snooze as snooze:
        return Snoozed(delay=snooze.delay)
    except Cancel as cancel:
        return Cancelled(reason=cut(cancel.reason))
    except Exception as error:  # noqa: BLE001  # the one attempt: whatever a kind's code raises is an ordinary failure
        hopeless = isinstance(error, (Permanent, InvalidArgs, *kind.retry.give_up_on))
        return Failed(error=described(error, retryable=not hopeless))
    return Succeeded(result=result if isinstance(result, Result) else Result())


def described(error: Exception, *, retryable: bool) -> Error:
    """An exception as the error that a client may see."""
    return Error(type=cut(type(error).__name__), message=cut(str(error)), retryable=retryable)


def cut(text: str, most: int = MOST_MESSAGE_BYTES) -> str:
    """The text, cut on a UTF-8 border so that a row can always hold it."""
    data = text.encode(errors="replace")
    return data.decode() if len(data) <= most else data[: most - 3].decode(errors="ignore") + "…"
