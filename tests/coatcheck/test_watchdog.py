"""The watchdog in C: it ends a process whose code never lets another thread run, and no other."""

import os
import subprocess
import sys
import time

BEGIN = """
from datetime import timedelta
from coatcheck.run.watchdog import FaultHandlerWatchdog
watchdog = FaultHandlerWatchdog()
watchdog.arm(timedelta(seconds={seconds}))
"""


def run(seconds: float, program: str) -> tuple[int, str, str, float]:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    begun = time.monotonic()
    ended = subprocess.run(
        [sys.executable, "-c", BEGIN.format(seconds=seconds) + program],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=30,
    )
    return ended.returncode, ended.stdout, ended.stderr, time.monotonic() - begun


def test_code_that_never_releases_the_interpreter_is_ended_with_a_traceback() -> None:
    code, out, errors, took = run(0.2, "import re\nre.match('(a+)+$', 'a' * 64 + 'b')\nprint('it came back')")
    assert code == 1
    assert out == ""
    assert 'File "<string>"' in errors
    assert took < 20


def test_a_span_that_is_over_already_ends_the_process_at_once() -> None:
    code, _, _, _ = run(-5, "import time\ntime.sleep(20)")
    assert code == 1


def test_a_process_that_calls_it_back_or_arms_it_again_goes_on() -> None:
    wait = "import time\nend = time.monotonic() + 0.6\nwhile time.monotonic() < end: pass\nprint('done')"
    assert run(0.3, f"watchdog.cancel()\n{wait}")[:2] == (0, "done\n")
    assert run(0.3, f"watchdog.arm(timedelta(seconds=60))\n{wait}\nwatchdog.cancel()")[:2] == (0, "done\n")
