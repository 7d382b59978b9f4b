"""The waits as a picture: a row for each scene, a column for each class, time on a logarithmic axis."""

from collections.abc import Iterator, Mapping
from math import log
from xml.sax.saxutils import escape

from bench.night.arrivals import Who
from bench.night.waits import Wait, Waits

SHOWN = (Who.QUIET, Who.NIGHTLY, Who.NOISY, Who.ARCHIVE)
TICKS = ((1, "1 s"), (60, "1 min"), (3600, "1 h"), (86_400, "1 d"))
NAMES, COLUMN, GAP, ROW, TOP = 170, 165, 24, 26, 50
STYLE = """
text { font: 12px system-ui, sans-serif; fill: #24292f }
.small { font-size: 10px; fill: #57606a }
.head { font-weight: 600 }
.grid { stroke: #d0d7de }
.quiet { fill: #0969da; stroke: #0969da }
.nightly { fill: #1a7f37; stroke: #1a7f37 }
.noisy { fill: #bc4c00; stroke: #bc4c00 }
.archive { fill: #8250df; stroke: #8250df }
.span { stroke-width: 3; stroke-linecap: round; opacity: .45 }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3 } .small { fill: #9198a1 } .grid { stroke: #3d444d }
  .quiet { fill: #4493f8; stroke: #4493f8 }
  .nightly { fill: #3fb950; stroke: #3fb950 }
  .noisy { fill: #f0883e; stroke: #f0883e }
  .archive { fill: #ab7df8; stroke: #ab7df8 }
}
"""


def picture(scenes: Mapping[str, Waits]) -> str:
    """An SVG without a background of its own, whose colours follow the reader's scheme."""
    width = NAMES + len(SHOWN) * (COLUMN + GAP)
    height = TOP + len(scenes) * ROW + 24
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" aria-labelledby="title">',
        '<title id="title">Waits from accepted to started, by class of tenants and by what is on</title>',
        f"<style>{STYLE}</style>",
        *_axes(height),
    ]
    for row, (name, waits) in enumerate(scenes.items()):
        y = TOP + row * ROW + ROW / 2
        lines.append(f'<text x="{NAMES - 16}" y="{y + 4:g}" text-anchor="end">{escape(name)}</text>')
        lines.extend(mark for who, wait in waits.items() for mark in _marks(wait, who, y))
    legend = "bar: from the median to the longest wait; dot: p95; left of 1 s: less than a second"
    lines.append(f'<text class="small" x="{NAMES}" y="{height - 6}">{legend}</text>')
    return "\n".join([*lines, "</svg>", ""])


def _axes(height: int) -> Iterator[str]:
    for column, who in enumerate(SHOWN):
        left = NAMES + column * (COLUMN + GAP)
        yield f'<text class="head" x="{left}" y="16">{who}</text>'
        for seconds, name in TICKS:
            x = left + place(seconds)
            yield f'<line class="grid" x1="{x:g}" x2="{x:g}" y1="{TOP - 8}" y2="{height - 24}"/>'
            yield f'<text class="small" x="{x:g}" y="{TOP - 14}" text-anchor="middle">{name}</text>'


def _marks(wait: Wait, who: Who, y: float) -> Iterator[str]:
    left = NAMES + SHOWN.index(who) * (COLUMN + GAP)
    first, most, last = (round(left + place(seconds), 1) for seconds in (wait.p50, wait.p95, wait.max))
    yield f'<g class="{who}"><line class="span" x1="{first:g}" x2="{last:g}" y1="{y:g}" y2="{y:g}"/>'
    yield f'<circle cx="{most:g}" cy="{y:g}" r="5"/></g>'


def place(seconds: float) -> float:
    """How far right in its column; less than a second is at its left edge."""
    return 12 if seconds < 1 else 24 + (COLUMN - 36) * log(seconds) / log(TICKS[-1][0])
