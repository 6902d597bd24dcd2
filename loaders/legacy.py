"""Legacy encodings: which one a text is in that is not UTF-8, as far as that can be told."""

import codecs
import re

from kgrag.loaders.base import SAMPLE

_WESTERN = frozenset(
    "àáâãäåæçèéêëìíîïðñòóôõöøùúûüýþÿßœšžÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÐÑÒÓÔÕÖØÙÚÛÜÝÞŸŒŠŽ¡¿«»‹›“”„‘’‚–—…·•†‡°ºª§¶©®™€£¥¢¹²³½¼¾±×÷µ´¨\xa0\xad"
)
_OTHERS = (  # of each script first what most texts in it are in
    "cp1251 koi8_r cp1253 cp1250 cp1254 cp1255 cp1256 cp1257 shift_jis euc_jp gb18030 big5 euc_kr".split()
)
_FEW = 0.0005  # of all bytes
_THAI_LETTERS = 12  # that it takes to tell
_THAI_MARK = re.compile(rb"[\xd1\xd4-\xda\xe7-\xee]")
_THAI_MARKED = re.compile(rb"(?<=[\xa1-\xce\xd1\xd4-\xda\xe7-\xee])[\xd1\xd4-\xda\xe7-\xee]")
_HIGH = re.compile(rb"[\x80-\xff]+")


def find_encoding(data: bytes) -> str | None:
    """The name of the encoding of a text that is not UTF-8; None for what is none, or is UTF-8 with damage.

    What reads as Western European is taken for Windows-1252, which short texts of other Latin alphabets may, too:
    these have no mark of their own. For everything else charset-normalizer compares how plausible the letters are.
    """
    sample = _sample(data)
    text = sample.decode("utf-8", "replace")
    wrong = text.count("\ufffd")
    if sum(character > "\x7f" for character in text) > 2 * wrong:
        return None  # most of it is UTF-8
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
        return None  # too few to tell: damage
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
    """Whether it reads as Thai in TIS-620: what stands above and below letters stands on one, all but always."""
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
    """The lines that are not ASCII, but for those beyond some size in all."""
    if len(data) <= SAMPLE:
        return data
    lines = (line for line in data.splitlines(keepends=True) if not line.isascii())
    found = b""
    for line in lines:
        found += line
        if len(found) > SAMPLE:
            break
    return found
