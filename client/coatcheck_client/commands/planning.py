"""plan: how many workers a load takes, and what follows from it."""

from typing import TYPE_CHECKING, Annotated

import msgspec
import typer
from rich.console import Console

from coatcheck_client.commands.options import Json
from coatcheck_client.trouble import ExitCode, Trouble

if TYPE_CHECKING:
    from infra.capacity import Load
    from infra.config import Config

MOST = 1_000_000_000
"""Of anything, so that no sum is larger than a number can be."""

_console = Console(highlight=False, markup=False, soft_wrap=True)


class BadNumber(Trouble):
    exit_code = ExitCode.USAGE

    def __init__(self, option: str, value: float, most: float, hint: str) -> None:
        super().__init__(f"{option} is {value:g}, not above 0 and at most {most:,.15g}", hint=hint)


class NoSuchStage(Trouble):
    exit_code = ExitCode.USAGE

    def __init__(self, stage: str, stages: list[str]) -> None:
        super().__init__(f"infra/config.py has no stage {stage!r}", hint=f"--stage is one of {', '.join(stages)}")


class BadConfig(Trouble):
    def __init__(self, error: ValueError) -> None:
        super().__init__(f"infra/config.py cannot be: {error}", hint="nothing is deployed from it; correct it first")


class HalfALoad(Trouble):
    exit_code = ExitCode.USAGE

    def __init__(self, given: str, missing: str) -> None:
        super().__init__(
            f"{given} is of a load that is told as a whole, and {missing} is missing",
            hint="such as --arrivals-per-hour 10000 --jobs-per-arrival 4 --seconds 240; or leave all of them out",
        )


def plan(
    stage: Annotated[
        str, typer.Option(envvar="COATCHECK_STAGE", help="Whose numbers in infra/config.py: local, dev or prod.")
    ] = "prod",
    arrivals_per_hour: Annotated[
        float | None, typer.Option(help="What if so many come, instead of the stage's?")
    ] = None,
    jobs_per_arrival: Annotated[int | None, typer.Option(min=1, max=MOST, help="Each with so many jobs (1).")] = None,
    seconds: Annotated[float | None, typer.Option(help="For how long one of their jobs works, on average.")] = None,
    utilisation: Annotated[
        float | None,
        typer.Option(help="For which part of the time workers may be busy (the stage's; a large pool's more)."),
    ] = None,
    source_workers: Annotated[
        int | None, typer.Option(min=1, max=MOST, help="How many workers at once what they read from can serve (any).")
    ] = None,
    backlog: Annotated[int, typer.Option(min=0, max=MOST, help="Jobs that wait in a lane.")] = 1000,
    chunks: Annotated[int, typer.Option(min=1, max=MOST, help="Chunks of a job that fans out.")] = 100,
    chunk_seconds: Annotated[float | None, typer.Option(help="How long one takes (as long as a job).")] = None,
    chunk_concurrency: Annotated[
        int | None, typer.Option(min=1, max=10_000, help="How many at once (what the lanes leave of the source).")
    ] = None,
    checkpoint_seconds: Annotated[
        float | None, typer.Option(help="How far checkpoints are apart (as far as a job may that can be stopped).")
    ] = None,
    account_concurrency: Annotated[
        int, typer.Option(min=1, max=MOST, help="Concurrent executions that the AWS account may have.")
    ] = 1000,
    json: Json = False,
) -> None:
    """Say how many workers a load takes and why, how long a backlog lasts, and which limit of AWS it meets.

    The stage's load, or one that you tell: --arrivals-per-hour 10000 --jobs-per-arrival 4 --seconds 240. Nothing is
    deployed and nothing is asked: it is arithmetic. docs/capacity.md says where each formula comes from.
    """
    config = _config(stage)

    from coatcheck_client.plan import Questions, stage_plan, what_if
    from coatcheck_client.plan_advice import advice
    from coatcheck_client.plan_text import lines

    _check("--chunk-seconds", chunk_seconds, MOST, "how long one chunk takes, such as 60")
    _check("--checkpoint-seconds", checkpoint_seconds, MOST, "how long a job works between two checkpoints, such as 30")
    questions = Questions(
        backlog=backlog,
        chunks=chunks,
        chunk_seconds=chunk_seconds,
        chunk_concurrency=chunk_concurrency,
        checkpoint_seconds=checkpoint_seconds,
        account_concurrency=account_concurrency,
    )
    load = _load(config, arrivals_per_hour, jobs_per_arrival, seconds, utilisation, source_workers)
    made = (
        stage_plan(config, questions)
        if load is None
        else what_if(
            config, questions, load=load, jobs_per_arrival=jobs_per_arrival or 1, source_workers=source_workers
        )
    )
    if json:
        print(msgspec.json.encode({**msgspec.to_builtins(made), "advice": list(advice(made))}).decode())  # noqa: T201
        return
    for line in lines(made):
        _console.print(line)


def _config(stage: str) -> "Config":
    """The stage's numbers. Raises NoSuchStage, BadConfig."""
    try:
        from infra.config import CONFIGS, Stage
    except ValueError as error:
        raise BadConfig(error) from error
    if stage not in list(Stage):
        raise NoSuchStage(stage, [str(each) for each in Stage])
    return CONFIGS[Stage(stage)]


def _load(
    config: "Config",
    arrivals_per_hour: float | None,
    jobs_per_arrival: int | None,
    seconds: float | None,
    utilisation: float | None,
    source_workers: int | None,
) -> "Load | None":
    """The load that the options tell; None if they tell none. Raises HalfALoad, BadNumber."""
    from infra.capacity import Load
    from infra.sizing import busy_workers, large_pool_utilisation

    told = {
        "--arrivals-per-hour": arrivals_per_hour,
        "--seconds": seconds,
        "--jobs-per-arrival": jobs_per_arrival,
        "--utilisation": utilisation,
        "--source-workers": source_workers,
    }
    given = [option for option, value in told.items() if value is not None]
    if not given:
        return None
    if arrivals_per_hour is None or seconds is None:
        missing = "--arrivals-per-hour" if arrivals_per_hour is None else "--seconds"
        raise HalfALoad(given[0], missing)
    longest = config.timings.give_up_after.total_seconds()
    _check("--arrivals-per-hour", arrivals_per_hour, MOST, "how many come in the busiest hour, such as 10000")
    _check("--seconds", seconds, longest, "how long one job works, such as 240; after 30 days it is given up")
    _check("--utilisation", utilisation, 1, "a part of the time, such as 0.7 for 70 %")
    per_second = arrivals_per_hour * (jobs_per_arrival or 1) / 3600
    busy = busy_workers(arrivals_per_second=per_second, duration_seconds=seconds)
    return Load(
        arrivals_per_second=per_second,
        mean_duration_seconds=seconds,
        target_utilisation=utilisation or large_pool_utilisation(busy=busy, at_least=config.load.target_utilisation),
    )


def _check(option: str, value: float | None, most: float, hint: str) -> None:
    if value is not None and not 0 < value <= most:  # neither is a number that is none
        raise BadNumber(option, value, most, hint)
