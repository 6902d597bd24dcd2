"""Shared parts of all formats: opening and decoding files, and cleaning text for the graph."""

import codecs
import hashlib
import math
import re
import stat
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path, PurePath
from typing import Any, BinaryIO

from kgrag.values.documents import Document, Problem
from kgrag.values.installing import install_hint

Item = Document | Problem

MB = 1024 * 1024
SAMPLE = 64 * 1024
"""Bytes at the beginning of a file that are inspected to detect its format."""

_BOMS = (  # UTF-32 comes first, since its mark begins like UTF-16's
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_BREAKS = re.compile("\r\n?|[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_UNWANTED = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f\u00ad\ufeff]")  # controls; soft hyphens and BOMs split words
_INVISIBLE = re.compile(  # word joiners and direction marks; some scripts separate words by U+200B
    "[\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069]|(?<![\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff])\u200b"
)
_SHOWN = str.maketrans(
    {"\xa0": " ", "\u2007": " ", "\u202f": " ", "\ufb00": "ff", "\ufb01": "fi", "\ufb02": "fl", "\ufb03": "ffi",
     "\ufb04": "ffl", "\ufb05": "st", "\ufb06": "st"}
)  # fmt: skip
_LARGER = {
    **dict.fromkeys(("iso-8859-1", "latin-1", "latin1", "us-ascii", "ascii"), "windows-1252"),
    **dict.fromkeys(("iso-8859-9", "latin5"), "windows-1254"),
    **dict.fromkeys(("iso-8859-11", "tis-620"), "cp874"),
    **dict.fromkeys(("gb2312", "gbk", "x-gbk"), "gb18030"),
    **dict.fromkeys(("euc-kr", "ks-c-5601-1987", "ksc5601"), "cp949"),
    **dict.fromkeys(("shift-jis", "sjis", "x-sjis"), "cp932"),
}
"""Declared encoding -> the superset that browsers decode it as (WHATWG Encoding Standard)."""
_SURROGATES = re.compile("[\ud800-\udfff]")
_CONTROL_BYTES = bytes(set(range(32)) - set(b"\t\n\x0b\x0c\r\x1b"))
_SPACE = re.compile(r"\s+")
HOW_TO_CONVERT = "convert it with `iconv -f WINDOWS-1252 -t UTF-8 OLD > NEW`, or from whatever encoding it has"
_MAX_DEPTH = 32  # nesting of metadata, so that writing it as JSON cannot overflow the stack


class BadInput(Exception):
    """A file or a row that cannot be read; its message becomes the message of a Problem.

    Example:
        >>> try:
        ...     raise BadInput("it holds no text")
        ... except BadInput as error:
        ...     print(Problem("notes.txt", str(error)).message)
        it holds no text
    """


class EmptyInput(BadInput):
    """A file without any content, which is no failure to read it."""

    def __init__(self) -> None:
        super().__init__("is empty")


def failure(error: BaseException) -> str:
    """Return the message of a Problem for an unexpected error of a reader; parsers may raise anything."""
    if isinstance(error, RecursionError):
        return "is nested too deeply, or damaged (its parts hold each other)"
    what = " ".join(str(error).split())[:200]
    return f"cannot be read ({type(error).__name__}{': ' if what else ''}{what})"


def brief(error: BaseException) -> str:
    """Return the beginning of an error's message on one line, or its type if it has no message."""
    return " ".join(str(error).split())[:200] or type(error).__name__


@contextmanager
def damage_as(what: str) -> Iterator[None]:
    """Convert any error within the block, except MemoryError, to a BadInput that begins with `what`."""
    try:
        yield
    except (BadInput, MemoryError):
        raise
    except Exception as error:
        raise BadInput(f"{what} ({brief(error)})") from error


def needs(module: str, what: str, package: str, extra: str) -> None:
    """Raise BadInput if a package is missing."""
    if find_spec(module) is None:
        raise BadInput(f"is {what}, for which {package} is needed: {install_hint(extra)}")


def over_limit(what: str, limit: int) -> str:
    """Return the message of a Problem for a row or page over the size limit of files."""
    return f"is a {what} of more than {limit // MB} MB; KGRAG_MAX_FILE_MB raises the limit"


def hash_of(data: bytes) -> int:
    """Return a 64-bit hash."""
    return int.from_bytes(hashlib.blake2b(data, digest_size=8).digest(), "little")


@dataclass(frozen=True, slots=True)
class Source:
    """A file to read.

    Attributes:
        path: the path of the file.
        key: its key in the collection.
        shown: its path as users see it.
        limit: the largest size, in bytes.
        encoding: its encoding if not UTF-8; empty: detect it.
        converted: the legacy encodings it was converted from.
        problems: remarks besides its documents: damaged or missing parts.
        left_out: kind -> number of left-out parts that are only counted.
        pages: (pages read, pages in all), then the seconds per page if pictures are recognised; empty if nobody
            counts pages.

    Example:
        >>> Path("Banks_Peninsula.txt").write_text("Banks Peninsula is volcanic.")
        28
        >>> source = Source(Path("Banks_Peninsula.txt"), "banks", "Banks_Peninsula.txt", limit=1_000)
        >>> source.title, read_text(source)
        ('Banks Peninsula', 'Banks Peninsula is volcanic.')
    """

    path: Path
    key: str
    shown: str
    limit: int
    encoding: str = ""
    converted: set[str] = field(default_factory=set)
    problems: list[str] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)
    pages: list[int] = field(default_factory=list)

    @property
    def title(self) -> str:
        """A title made from the file name: "Banks_Peninsula.txt" -> "Banks Peninsula"."""
        path = PurePath(self.shown)
        stem = PurePath(path.stem).stem if path.suffix.lower() == ".gz" else path.stem
        if stem.islower() and "_" not in stem and " " not in stem:
            stem = re.sub(r"(?<=[^\W\d])-(?=[^\W\d])", " ", stem)  # install-guide, but not Kon-Tiki or 2020-01-31
        return one_line(stem.replace("_", " ")) or one_line(PurePath(self.shown).name)


def clean(text: str) -> str:
    """Return `text` in NFC with Unix newlines, without control characters and lone surrogates.

    Neo4j cannot store the removed characters.
    """
    if text.isascii() and text.isprintable():
        return text
    text = _UNWANTED.sub("", _BREAKS.sub("\n", text))
    return unicodedata.normalize("NFC", _SURROGATES.sub("\ufffd", text))


def plain(text: str) -> str:
    """Return `text` cleaned, in the characters that people type: plain spaces, no ligatures, no invisible marks."""
    return clean(text) if text.isascii() else _INVISIBLE.sub("", clean(text)).translate(_SHOWN)


def one_line(text: str) -> str:
    """Return `text` in plain characters, with every run of white space as a single space."""
    return _SPACE.sub(" ", plain(text)).strip()


def counted(count: int, what: str) -> str:
    """Return a count with its noun: "1 hidden row", "1,200 hidden rows"."""
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def check_depth(depth: int) -> None:
    """Raise BadInput if a value is nested too deeply."""
    if depth > _MAX_DEPTH:
        raise BadInput(f"is nested more than {_MAX_DEPTH} levels deep")


def clean_value(value: Any, depth: int = 0) -> Any:
    """Return a JSON value as metadata.

    Text is cleaned, NaN and infinity become None, and integers beyond 64 bits become text.
    """
    check_depth(depth)
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        return str(value)
    if isinstance(value, list):
        return [clean_value(v, depth + 1) for v in value]
    if isinstance(value, dict):
        return {one_line(str(k)): clean_value(v, depth + 1) for k, v in value.items()}
    return value


def open_file(source: Source) -> BinaryIO:
    """Open the file for reading.

    Raises BadInput unless it is a regular file, since opening a pipe could block forever.
    """
    if not stat.S_ISREG(source.path.stat().st_mode):
        raise BadInput("is not a regular file")
    return source.path.open("rb")


def read_file(source: Source) -> bytes:
    """Return all bytes of a file. Raises BadInput if it is empty, binary or over the limit."""
    with open_file(source) as file:
        data = file.read(source.limit + 1)
    if len(data) > source.limit:
        raise _too_large(source, len(data))
    if not data.strip():
        raise EmptyInput()
    check_binary(data)
    return data


def check_size(source: Source) -> None:
    """Check a file's size. Raises BadInput if it is empty, over the limit or not a regular file."""
    with open_file(source):
        size = source.path.stat().st_size
    if size == 0:
        raise EmptyInput()
    if size > source.limit:
        raise _too_large(source, size)


def _too_large(source: Source, read: int) -> BadInput:
    size = math.ceil(max(source.path.stat().st_size, read) / MB)
    return BadInput(
        f"is {size} MB, over the limit of {source.limit // MB} MB; split it, or raise the limit with KGRAG_MAX_FILE_MB"
    )


def find_bom(data: bytes) -> str | None:
    """Return the encoding given by a byte order mark at the start, or None."""
    return next((encoding for bom, encoding in _BOMS if data.startswith(bom)), None)


def check_binary(data: bytes) -> None:
    """Check that `data`, a file or its beginning, is text. Raises BadInput."""
    if find_bom(data) in ("utf-16", "utf-32"):
        return
    if b"\0" in data:
        raise BadInput("is a binary file (it holds NUL bytes), or UTF-16 without a byte order mark")
    sample = data[:SAMPLE]
    controls = len(sample) - len(sample.translate(None, _CONTROL_BYTES))
    if controls >= 8 and controls > len(sample) * 0.02:
        raise BadInput("is a binary file (it is full of control characters)")


def read_text(source: Source, declared: Callable[[bytes], str | None] | None = None) -> str:
    """Return the text of a file, converted if it is in a legacy encoding.

    U+FFFD replaces single damaged bytes; their number is reported.

    Args:
        source: the file.
        declared: finds the encoding that the beginning of the text declares; None if the format has no declarations.

    Returns:
        The text.

    Raises:
        BadInput: there are too many damaged bytes, or the file is empty, binary or too large.
    """
    data = read_file(source)
    try:
        return decode(data, declared(data) if declared is not None else None)
    except BadInput:
        bom = find_bom(data)
        encoding = legacy_encoding(source, data) if bom is None else None
        if encoding is None:
            text, problem = repaired(data, (bom or "utf-8").removesuffix("-sig"))
            source.problems.append(problem)
            return text.removeprefix("\ufeff")
        text = data.decode(encoding, "replace")
        source.converted.add(encoding)
        return text


def legacy_encoding(source: Source, data: bytes) -> str | None:
    """Return the encoding of a text that is not UTF-8: the source's own, else a guess, else None."""
    return source.encoding or find_encoding(data)


def decode(data: bytes, declared: str | None = None) -> str:
    """Decode bytes by their byte order mark, as UTF-8, or as `declared`. Raises BadInput if all of these fail."""
    bom = find_bom(data)
    encodings = [bom] if bom else ["utf-8", *_declared(declared)]
    if declared and declared.lower().startswith("iso-2022"):
        encodings.insert(0, declared)  # first, since its seven-bit escapes would also decode as UTF-8
    for encoding in encodings:
        try:
            return data.decode(encoding)
        except (ValueError, LookupError):  # LookupError also for codecs that do not decode text
            continue
    if bom in (None, "utf-8-sig") and (text := _cesu(data)) is not None:
        return text
    name = bom if bom in ("utf-16", "utf-32") else "utf-8"
    raise BadInput(f"is not {name.upper()}{bad_byte(data, name)}; {HOW_TO_CONVERT}")


def _cesu(data: bytes) -> str | None:
    """Decode CESU-8 (UTF-8 with characters beyond 16 bits as two surrogates); return None for other data."""
    try:
        return data.decode("utf-8", "surrogatepass").encode("utf-16-le", "surrogatepass").decode("utf-16-le")
    except UnicodeError:
        return None


def bad_byte(data: bytes, encoding: str = "utf-8") -> str:
    """Return the first place where `data` breaks its encoding: " at byte N"."""
    try:
        data.decode(encoding)
    except UnicodeDecodeError as error:
        return f" at byte {error.start}"
    return ""


def _declared(name: str | None) -> list[str]:
    plain = (name or "").lower().replace("_", "-")
    if name is None or plain.startswith(("utf-16", "utf-32")):
        return []  # a declaration readable as ASCII rules out UTF-16 and UTF-32
    larger = _LARGER.get(plain)
    return [larger, name] if larger else [name]


_SHARE = 0.01  # share of damaged bytes; with more, the file has another encoding or is not text

MARK = "\ufffd"
"""The character that replaces a damaged byte."""


def repaired(data: bytes, encoding: str = "utf-8") -> tuple[str, str]:
    """Return the text of damaged bytes and a remark on them. Raises BadInput if there are too many."""
    text = data.decode(encoding, "replace")
    count = text.count(MARK) - data.decode(encoding, "ignore").count(MARK)
    return text, told(count, len(data), encoding, bad_byte(data, encoding))


def decode_or_repair(data: bytes, declared: str | None = None) -> tuple[str, str]:
    """Return the text of bytes and a remark on damaged ones, or "". Raises BadInput if there are too many."""
    try:
        return decode(data, declared), ""
    except BadInput:
        return repaired(data)


def told(count: int, size: int, encoding: str, place: str) -> str:
    """Return a remark on `count` bad bytes among `size`, or "" if there are none. Raises BadInput if too many."""
    name = encoding.upper()
    if count > max(1, _SHARE * size):
        raise BadInput(f"is not {name}{place}, nor in {counted(count - 1, 'other place')}; {HOW_TO_CONVERT}")
    if not count:
        return ""
    if count > 1:
        return f"holds {count:,} bytes that are not {name}, the first{place}: U+FFFD stands for them in the text"
    return f"holds a byte that is not {name}{place}: U+FFFD stands for it in the text"


_WESTERN = frozenset(
    "àáâãäåæçèéêëìíîïðñòóôõöøùúûüýþÿßœšžÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÐÑÒÓÔÕÖØÙÚÛÜÝÞŸŒŠŽ¡¿«»‹›“”„‘’‚–—…·•†‡°ºª§¶©®™€£¥¢¹²³½¼¾±×÷µ´¨\xa0\xad"
)
_OTHERS = (  # the most common encoding of each script first
    "cp1251 koi8_r cp1253 cp1250 cp1254 cp1255 cp1256 cp1257 shift_jis euc_jp gb18030 big5 euc_kr".split()
)
_FEW = 0.0005  # share of all bytes
_THAI_LETTERS = 12  # letters needed to recognise Thai
_THAI_MARK = re.compile(rb"[\xd1\xd4-\xda\xe7-\xee]")
_THAI_MARKED = re.compile(rb"(?<=[\xa1-\xce\xd1\xd4-\xda\xe7-\xee])[\xd1\xd4-\xda\xe7-\xee]")
_HIGH = re.compile(rb"[\x80-\xff]+")


def find_encoding(data: bytes) -> str | None:
    """Return the encoding of a text that is not UTF-8; None for other data, or damaged UTF-8.

    Text that is plausible as Western European is taken for Windows-1252. Short texts in other Latin alphabets may be
    mistaken for it, as nothing marks them. charset-normalizer decides about the rest by how plausible the letters are.
    """
    sample = _sample(data)
    text = sample.decode("utf-8", "replace")
    wrong = text.count("\ufffd")
    if sum(character > "\x7f" for character in text) > 2 * wrong:
        return None  # it is mostly UTF-8
    if _is_thai(sample):
        return "cp874"
    try:
        western = set(sample.decode("cp1252"))
    except UnicodeDecodeError:
        pass
    else:
        share = sum(map(len, _HIGH.findall(sample))) / max(1, sum(map(len, sample.split())))
        if all(c < "\x7f" or c in _WESTERN for c in western) and share < 0.45:
            return "cp1252"
    if len(_HIGH.findall(sample)) <= max(1, _FEW * len(sample)):
        return None  # too few odd bytes for another encoding: damage
    from charset_normalizer import from_bytes

    best = from_bytes(sample, cp_isolation=_OTHERS, enable_fallback=False).best()
    if best is None:
        return None
    try:
        data.decode(best.encoding)
    except UnicodeDecodeError:
        return None
    return codecs.lookup(best.encoding).name


def _is_thai(data: bytes) -> bool:
    """Return whether bytes read as Thai in TIS-620: nearly every vowel or tone mark follows a letter."""
    high = sum(map(len, _HIGH.findall(data)))
    if high < _THAI_LETTERS:
        return False
    try:
        data.decode("cp874")
    except UnicodeDecodeError:
        return False
    marks = len(_THAI_MARK.findall(data))
    return marks > 0.05 * high and len(_THAI_MARKED.findall(data)) > 0.97 * marks


def _sample(data: bytes) -> bytes:
    """Return the lines that are not ASCII, up to a total size."""
    if len(data) <= SAMPLE:
        return data
    lines = (line for line in data.splitlines(keepends=True) if not line.isascii())
    sample = b""
    for line in lines:
        sample += line
        if len(sample) > SAMPLE:
            break
    return sample


TOLD = (
    "hidden sheet, hidden slide, hidden row, hidden column, hidden piece, comment, form value, "
    "unsure line, unread picture, text box, embedded part, chapter of another format"
).split(", ")
"""Kinds of content written for readers, who may miss it: reported for each file."""
SUMMED = (
    "deleted piece, reading of characters, running head, running foot, navigation bar, page foot, "
    "block of every page, output of code, chart, comment line, drawer line, option of a module, "
    "decoration"
).split(", ")
"""Kinds that repeat on every page or are not meant to be read: reported as totals of all files."""


def tell(source: Source, left_out: Mapping[str, int]) -> None:
    """Add the parts of a file that were left out, by kind, to its problems and to the totals of the load."""
    counts = ", ".join(counted(left_out[kind], kind) for kind in TOLD if left_out.get(kind))
    if counts:
        source.problems.append(f"holds {counts}, left out")
    source.left_out.update({kind: count for kind, count in left_out.items() if kind in SUMMED and count})
