"""Texts from outside, short enough for a row."""


def cut(text: str, most_bytes: int) -> str:
    """The text, cut on a UTF-8 border so that a row can always hold it."""
    data = text.encode(errors="replace")
    return data.decode() if len(data) <= most_bytes else data[: most_bytes - 3].decode(errors="ignore") + "…"
