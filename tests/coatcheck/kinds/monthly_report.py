"""A kind of which each seller and period have one open job at most."""

from dataclasses import dataclass
from typing import Annotated

from coatcheck import JobContext, Meta, Result, job


@dataclass(frozen=True, kw_only=True)
class Args:
    seller_id: Annotated[str, Meta(pattern=r"^\d{1,12}$")]
    period: Annotated[str, Meta(pattern=r"^\d{4}-(0[1-9]|1[0-2])$")] = "2026-10"
    note: str = ""


@job(route="/v1/reports/monthly", unique=("seller_id", "period"), lane="bulk")
def monthly_report(ctx: JobContext, args: Args) -> Result:
    return Result(rows=int(args.seller_id) if ctx.tenant else None)
