"""A kind that does what the test wrote into its script."""

from coatcheck import JobContext, Result, Retry, job
from tests.coatcheck.scripts import Args, Hopeless, played


@job(retry=Retry(failures=5, give_up_on=(Hopeless,)))
def script(ctx: JobContext, args: Args) -> Result | None:
    return played()(ctx, args)
