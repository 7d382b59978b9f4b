"""What schemathesis is told beside its options; it loads this module by the name in SCHEMATHESIS_HOOKS."""

import uuid
from typing import Any

import schemathesis
from schemathesis import Case, HookContext

from coatcheck.request import KEY


@schemathesis.hook
def before_call(context: HookContext, case: Case[Any], kwargs: dict[str, Any]) -> None:
    """A redirect is an answer, not a way to go: it leads to the file, which is not part of the contract.

    And a good key is a new one each time, or nearly every submit would be refused as another one under the first's key.
    """
    kwargs["allow_redirects"] = False
    key = case.headers.get("Idempotency-Key")
    if isinstance(key, str) and KEY.fullmatch(key):
        case.headers["Idempotency-Key"] = uuid.uuid4().hex
