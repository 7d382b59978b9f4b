"""The operators' function about tenants: what each may and has, and that only what makes sense is set."""

from collections.abc import Callable
from typing import Any

import pytest

from coatcheck.limiter import limiter_of_tenant
from coatcheck.load import LOAD_KEY
from coatcheck.run.known_limits import LOOK_UP_EVERY
from coatcheck.slots import slots_key
from coatcheck.write import Key, Table, put, update
from handlers import bells, operator, ports, submit, supervisor
from tests.coatcheck.admissions import GENEROUS
from tests.coatcheck.cloud import Cloud
from tests.handlers.chain import Chain
from tests.handlers.events import LambdaContext
from tests.handlers.jobs_table import now
from tests.handlers.test_submit import PROBE, post

pytestmark = pytest.mark.usefixtures("capped", "empty_queues")

BY = "arn:aws:iam::123456789012:user/example"
CALLER = {"tenant": "hoarder", "name": "key …abcd"}


def operated(act: str, **fields: Any) -> dict[str, Any]:
    answer: dict[str, Any] = operator.handler({"act": act, "by": BY, **fields}, LambdaContext())
    return answer


def only(answer: dict[str, Any]) -> dict[str, Any]:
    (tenant,) = answer["tenants"]
    return dict(tenant)


def ten_seconds_later() -> None:
    assert LOOK_UP_EVERY.total_seconds() == 10
    for each in (submit.admissions, bells.known_limits, bells.bell):
        each.cache_clear()


def test_a_tenant_of_which_nothing_is_known_has_the_limits_of_everybody() -> None:
    ports.jobs().write(put(LOAD_KEY, {}))
    answer = operated("look_at_tenants", tenants=["nobody"])
    assert answer["stage"]["burst"] == GENEROUS.burst
    assert answer["stage"]["caps"] == GENEROUS.caps
    assert only(answer) == {
        "tenant": "nobody",
        "limits": {"caps": {}},
        "open_jobs": 0,
        "lanes": {
            "interactive": {"cap": 3, "in_flight": 0, "open_jobs": 0, "waiting": 0},
            "bulk": {"cap": 10, "in_flight": 0, "open_jobs": 0, "waiting": 0},
        },
    }


def test_it_is_said_how_many_jobs_a_tenant_has_in_flight_and_waiting_and_a_raised_cap_lets_more_go(aws: Cloud) -> None:
    chain = Chain(aws)
    for _ in range(7):
        post(PROBE, authorizer=CALLER)
    chain.dispatch()
    lane = only(operated("look_at_tenants", tenants=["hoarder"]))["lanes"]["interactive"]
    assert (lane["in_flight"], lane["waiting"]) == (3, 4)
    supervisor.handler({"once": True}, LambdaContext(120))
    answer = operated("look_at_tenants", tenants=["hoarder"])
    assert answer["open_jobs"]["hoarder"] == 7
    assert only(answer)["lanes"]["interactive"]["open_jobs"] == 7

    answer = operated("set_limits", tenant="hoarder", caps={"interactive": 6})
    assert only(answer)["lanes"]["interactive"]["cap"] == 6
    ten_seconds_later()
    slots = slots_key(limiter_of_tenant("hoarder", "interactive"))
    ports.jobs().write(update(slots, (), {"due": now()}))
    supervisor.handler({"once": True}, LambdaContext(120))
    lane = only(operated("look_at_tenants", tenants=["hoarder"]))["lanes"]["interactive"]
    assert (lane["in_flight"], lane["waiting"]) == (6, 1)
    chain.run()
    operated("reset_limits", tenant="hoarder")
    ten_seconds_later()


def test_what_is_set_counts_and_what_is_not_named_stays() -> None:
    operated("set_limits", tenant="buyer", requests_per_second=1, burst=2)
    told = only(operated("set_limits", tenant="buyer", burst=3, caps={"bulk": 20}))["limits"]
    assert told == {"requests_per_second": 1, "burst": 3, "caps": {"bulk": 20}}
    buyer = {"tenant": "buyer", "name": "key …abcd"}
    statuses = [post(PROBE, authorizer=buyer)["statusCode"] for _ in range(6)]
    assert statuses[:3] == [202] * 3
    assert 429 in statuses
    told = only(operated("set_limits", tenant="buyer", burst=100))["limits"]
    told = only(operated("reset_limits", tenant="buyer"))["limits"]
    assert told == {"caps": {}}
    ten_seconds_later()
    assert [post(PROBE, authorizer=buyer)["statusCode"] for _ in range(6)] == [202] * 6


@pytest.mark.parametrize("name", ["", "no such tenant", "Acme", "-acme", "a" * 65])
@pytest.mark.parametrize(
    ("act", "named"),
    [
        ("look_at_tenants", lambda name: {"tenants": ["acme", name]}),
        ("set_limits", lambda name: {"tenant": name, "burst": 5}),
        ("reset_limits", lambda name: {"tenant": name}),
    ],
)
def test_what_is_no_name_of_a_tenant_is_refused(act: str, named: Callable[[str], dict[str, Any]], name: str) -> None:
    says = f"{name!r} is no name of a tenant: it has 1 to 64 of a-z, 0-9 and dash that do not begin with a dash"
    assert operated(act, **named(name)) == {"refused": says}
    assert ports.tenants().get(Key(table=Table.TENANTS, id=f"limits#{name}")) is None


@pytest.mark.parametrize(
    ("limits", "says"),
    [
        ({"caps": {"interactive": 101}}, "the cap of the lane interactive must be within 1 and 100, not 101"),
        ({"caps": {"bulk": 0}}, "the cap of the lane bulk must be within 1 and 100, not 0"),
        ({"caps": {"express": 3}}, "there is no lane 'express': there are bulk, interactive"),
        ({"burst": 0}, "burst must be within 1 and 100,000, not 0"),
        ({"requests_per_second": 10_001}, "requests_per_second must be within 1 and 10,000, not 10,001"),
        ({"open_jobs": -5}, "open_jobs must be within 1 and 1,000,000, not -5"),
    ],
)
def test_limits_that_make_no_sense_are_refused_and_nothing_is_set(limits: dict[str, Any], says: str) -> None:
    assert operated("set_limits", tenant="careless", **limits) == {"refused": says}
    assert only(operated("look_at_tenants", tenants=["careless"]))["limits"] == {"caps": {}}
