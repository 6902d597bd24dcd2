"""Text in which single bytes are damaged: U+FFFD stands for them, and their number is reported."""

from kgrag.loaders.base import HOW_TO_CONVERT, BadInput, counted

_SHARE = 0.01  # of all bytes: with more it is another encoding, or no text

MARK = "\ufffd"
"""What stands for a byte that is no character."""


def repaired(data: bytes, encoding: str = "utf-8") -> tuple[str, str]:
    """The text of damaged bytes, and what is to be said of it. Raises BadInput for too many of them."""
    text = data.decode(encoding, "replace")
    count = text.count(MARK) - data.decode(encoding, "ignore").count(MARK)
    return text, told(count, len(data), encoding, _first(data, encoding))


def told(count: int, size: int, encoding: str, place: str) -> str:
    """What is to be said of `count` bad bytes among `size`; "" for none. Raises BadInput for too many."""
    name = encoding.upper()
    if count > max(1, _SHARE * size):
        raise BadInput(f"is not {name}{place}, nor in {counted(count - 1, 'other place')}; {HOW_TO_CONVERT}")
    if not count:
        return ""
    if count > 1:
        return f"holds {count:,} bytes that are not {name}, the first{place}: U+FFFD stands for them in the text"
    return f"holds a byte that is not {name}{place}: U+FFFD stands for it in the text"


def _first(data: bytes, encoding: str) -> str:
    try:
        data.decode(encoding)
    except UnicodeDecodeError as error:
        return f" at byte {error.start}"
    return ""
