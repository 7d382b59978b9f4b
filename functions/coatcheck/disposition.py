"""The Content-Disposition of a download: its file name for every client, whatever script it is written in."""

import unicodedata
from urllib.parse import quote

ATTR_CHARS = "!#$&+-.^_`|~"
"""What RFC 8187 lets stand unescaped, beside letters and digits."""

HARMLESS = frozenset("!#$&'()+,-.;=@[]^_`{}~ ")


def attachment(file_name: str) -> str:
    """The header's value (RFC 6266): the name itself as UTF-8, and before it an ASCII one for clients of old."""
    return f"attachment; filename=\"{_ascii(file_name)}\"; filename*=UTF-8''{quote(file_name, safe=ATTR_CHARS)}"


def _ascii(file_name: str) -> str:
    """Letters without their accents; an underscore for every other character that needs quoting or is not ASCII."""
    plain = [each for each in unicodedata.normalize("NFKD", file_name) if not unicodedata.combining(each)]
    return "".join(each if (each.isascii() and each.isalnum()) or each in HARMLESS else "_" for each in plain)
