"""The bytes of a file as text."""

from __future__ import annotations


def decoded(content: bytes) -> str:
    """UTF-8 where it is that, else the Windows code page that old filings are in.

    >>> decoded("caf\\u00e9".encode()) == decoded("caf\\u00e9".encode("cp1252"))
    True
    """
    for encoding in ("utf-8-sig", "cp1252"):
        try:
            return content.decode(encoding)
        except UnicodeDecodeError:
            continue
    return content.decode("latin-1")
