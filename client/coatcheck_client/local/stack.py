"""The local stack as a whole: brought up, mended, redeployed and torn down, each as far as it is needed."""

import shutil
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime

import urllib3

from coatcheck_client import keys, marketplace
from coatcheck_client.deployment import LOCAL, Deployment, local_deployment
from coatcheck_client.local import address, cdk
from coatcheck_client.local.database import database_url, is_listening, start_database
from coatcheck_client.local.emulator import REGION, api_url, aws_url, is_ready, start_emulator
from coatcheck_client.local.guard import Guard
from coatcheck_client.local.poll import until
from coatcheck_client.local.process import stop
from coatcheck_client.local.record import (
    Server,
    Stack,
    State,
    TenantKey,
    exclusive,
    read_stack,
    read_state,
    write_stack,
    write_state,
)
from coatcheck_client.project import Project
from coatcheck_client.trouble import Trouble

Say = Callable[[str], None]

# Taken if they are free: the addresses of a stack that is stopped and started again stay the same.
_EMULATOR_PORT = 4566
_DATABASE_PORT = 54329
_HEALTHY_WITHIN_SECONDS = 60.0


@dataclass(frozen=True, kw_only=True)
class Wish:
    """What the stack is to be like."""

    scale: int
    """Invoices of the big seller."""

    rows_per_second: int
    """The pace at which a worker reads the database; 0 for as fast as it can."""


class Unhealthy(Trouble):
    """It is deployed, but its API does not answer."""

    def __init__(self, url: str, answer: str) -> None:
        super().__init__(f"deployed, but {url} answers {answer}", hint="see `coatcheck logs status`")


def up(
    project: Project, *, guard: Guard, say: Say, scale: int | None = None, rows_per_second: int | None = None
) -> tuple[Stack, bool]:
    """The running stack, and whether anything had to be done for that.

    Without a `scale` or a pace it keeps those it has. What is started here is watched by the guard until the caller
    releases it. Raises Trouble.
    """
    with exclusive(project):
        state = read_state(project)
        wish = _wish(state, scale, rows_per_second)
        if stack := _current(project, state, wish):
            return stack, False
        emulator, bootstrap = state.emulator, None
        if emulator is None or not is_ready(emulator):
            emulator = _new_emulator(project, state, guard, say)
            state = _written(project, replace(state, emulator=emulator, deployed=None))
            say("preparing it for deployments (cdk bootstrap)")
            bootstrap = cdk.start_bootstrap(project, aws_url=aws_url(emulator.port), guard=guard)
        database = state.database
        if database is None or not is_listening(database):
            database = _new_database(project, state, guard, say)
            state = _written(project, replace(state, database=database))
        if bootstrap:
            cdk.finish(project, bootstrap, "bootstrap")
        _deploy(project, state, wish, emulator, database, guard, say)
        stack = _publish(project, emulator, database)
        _written(project, replace(state, deployed=_fingerprint(project, database, wish), **asdict(wish)))
        return stack, True


def down(project: Project) -> bool:
    """Stop everything that `up` started, running or half dead. Whether there was anything to stop."""
    with exclusive(project):
        state = read_state(project)
        servers = [server for server in (state.emulator, state.database) if server]
        for server in servers:
            stop(server.process)
        project.stack_file.unlink(missing_ok=True)
        shutil.rmtree(project.local / "tmp", ignore_errors=True)
        write_state(project, replace(state, emulator=None, database=None, deployed=None))
        return bool(servers)


def health(project: Project) -> dict[str, bool]:
    """Which parts of the stack are well."""
    state, stack = read_state(project), read_stack(project)
    return {
        "local AWS (ministack)": bool(state.emulator and is_ready(state.emulator)),
        "PostgreSQL": bool(state.database and is_listening(state.database)),
        "application": bool(state.deployed and stack and _health(stack.api_url) == "200"),
    }


def _wish(state: State, scale: int | None, rows_per_second: int | None) -> Wish:
    return Wish(
        scale=scale or state.scale or marketplace.BIG_SELLER_INVOICES,
        rows_per_second=next(pace for pace in (rows_per_second, state.rows_per_second, 0) if pace is not None),
    )


def _current(project: Project, state: State, wish: Wish) -> Stack | None:
    """The stack, if it runs, is healthy, and is what the sources and the wish say."""
    stack = read_stack(project)
    if not (stack and state.emulator and state.database):
        return None
    as_wished = state.scale == wish.scale and state.deployed == _fingerprint(project, state.database, wish)
    healthy = is_ready(state.emulator) and is_listening(state.database) and _health(stack.api_url) == "200"
    return stack if as_wished and healthy else None


def _new_emulator(project: Project, state: State, guard: Guard, say: Say) -> Server:
    """It keeps everything in memory: a new one is an empty account, and nothing is deployed in it."""
    if state.emulator:
        stop(state.emulator.process)  # functions that outlived it
    project.stack_file.unlink(missing_ok=True)
    shutil.rmtree(project.local / "tmp", ignore_errors=True)
    say("starting the local AWS (ministack)")
    port = state.emulator.port if state.emulator else _EMULATOR_PORT
    return start_emulator(project, port=port, guard=guard)


def _new_database(project: Project, state: State, guard: Guard, say: Say) -> Server:
    if state.database:
        stop(state.database.process)
    say("starting PostgreSQL")
    port = state.database.port if state.database else _DATABASE_PORT
    return start_database(project, port=port, guard=guard)


def _written(project: Project, state: State) -> State:
    write_state(project, state)
    return state


def _deploy(
    project: Project, state: State, wish: Wish, emulator: Server, database: Server, guard: Guard, say: Say
) -> None:
    deploy = None
    if state.deployed != _fingerprint(project, database, wish):
        say("deploying the application (cdk deploy)")
        _written(project, replace(state, deployed=None))
        context = _context(database, wish)
        deploy = cdk.start_deploy(project, context, aws_url=aws_url(emulator.port), guard=guard)
    say(f"filling the marketplace ({wish.scale:,} invoices of seller {marketplace.BIG_SELLER})")
    marketplace.seed(database_url(database.port), wish.scale)
    if deploy:
        cdk.finish(project, deploy, "deploy")
        for warning in cdk.warnings(project):
            say(warning)


def _publish(project: Project, emulator: Server, database: Server) -> Stack:
    """Give the deployed stack an address of its own and every tenant a key; wait until it answers."""
    stack = Stack(
        api_url=api_url(emulator.port),
        console_url=None,
        aws_endpoint_url=aws_url(emulator.port),
        region=REGION,
        database_url=database_url(database.port),
        outputs=cdk.deployed_outputs(project),
    )
    deployment = local_deployment(stack)
    address.publish(deployment.api_gateway, deployment.output("ApiId"))
    # The emulator's first tick of a schedule comes a whole period after its creation; here it is made up for.
    deployment.functions.invoke(FunctionName=deployment.output("SupervisorFunction"), InvocationType="Event")
    _wait_until_healthy(stack.api_url)
    before = read_stack(project)
    stack = replace(stack, tenants=_tenant_keys(deployment, before.tenants if before else ()))
    write_stack(project, stack)
    return stack


def _tenant_keys(deployment: Deployment, known: tuple[TenantKey, ...]) -> tuple[TenantKey, ...]:
    """A key for each tenant of the marketplace: those made before, and new ones for tenants without."""
    texts = {key.tenant: key.api_key for key in known}
    for tenant in marketplace.TENANTS:
        if tenant not in texts:
            texts[tenant] = keys.new_key_text()
            keys.create(deployment, tenant, texts[tenant], now=datetime.now(UTC))
    return tuple(TenantKey(tenant=tenant, api_key=text) for tenant, text in texts.items())


def _wait_until_healthy(url: str) -> None:
    if not until(lambda: _health(url) == "200", _HEALTHY_WITHIN_SECONDS):
        raise Unhealthy(f"{url}/v1/health", _health(url))


def _health(url: str) -> str:
    try:
        with urllib3.PoolManager(retries=False, timeout=15.0) as http:
            return str(http.request("GET", f"{url}/v1/health").status)
    except urllib3.exceptions.HTTPError as error:
        return str(error)


def _context(database: Server, wish: Wish) -> dict[str, str]:
    """The CDK context that the application is deployed with."""
    context = {"stage": LOCAL, "source_url": database_url(database.port)}
    if wish.rows_per_second:
        context["source_rows_per_second"] = str(wish.rows_per_second)
    return context


def _fingerprint(project: Project, database: Server, wish: Wish) -> str:
    return cdk.fingerprint(project, _context(database, wish))
