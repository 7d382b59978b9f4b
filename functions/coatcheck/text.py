"""Texts: short enough for a row, and times as clients read them."""

from datetime import UTC, datetime


def cut(text: str, most_bytes: int) -> str:
    """The text, cut on a UTF-8 border so that a row can always hold it."""
    data = text.encode(errors="replace")
    return data.decode() if len(data) <= most_bytes else data[: most_bytes - 3].decode(errors="ignore") + "…"


def rfc3339(moment: datetime) -> str:
    """A time in UTC, with milliseconds."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
