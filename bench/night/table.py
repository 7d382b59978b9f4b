"""The waits as tables, for a page of the docs."""

from collections.abc import Mapping, Sequence

from bench.night.arrivals import Who
from bench.night.waits import Wait, Waits

SHOWN = (Who.QUIET, Who.NIGHTLY, Who.NOISY, Who.ARCHIVE)


def table(scenes: Mapping[str, Waits], shown: Sequence[Who] = SHOWN) -> str:
    """p50, p95 and the longest wait of each class, and when those that came with thousands are done."""
    ending = [who for who in (Who.NOISY, Who.ARCHIVE) if who in shown]
    rows = [
        ["", *shown, *(f"{who} done after" for who in ending)],
        ["---"] * (1 + len(shown) + len(ending)),
        *(
            [
                name,
                *(_cell(waits.get(who)) for who in shown),
                *(f"{waits[who].hours:.1f} h" if who in waits else "" for who in ending),
            ]
            for name, waits in scenes.items()
        ),
    ]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def span(seconds: float) -> str:
    """As people say it: 0 s, 14 s, 31 min, 10.7 h."""
    if seconds < 1:
        return "0 s" if seconds == 0 else "< 1 s"
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def _cell(wait: Wait | None) -> str:
    return "" if wait is None else f"{span(wait.p50)} · **{span(wait.p95)}** · {span(wait.max)}"
