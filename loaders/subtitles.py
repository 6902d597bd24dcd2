"""Subtitles, SubRip (.srt) and WebVTT (.vtt): what is said, in paragraphs that pauses and speakers part."""

import re
from collections import Counter
from collections.abc import Iterator
from html import unescape

from kgrag.loaders.base import BadInput, Source, one_line, read_text, tell
from kgrag.loaders.reading import Format, whole
from kgrag.values.documents import Document, Section

_TIME = r"(?:(\d+):)?(\d{1,2}):(\d{2})[.,](\d{1,3})"
_CUE = re.compile(rf"\s*{_TIME}\s*-->\s*{_TIME}.*")
_SPEAKER = re.compile(r"<v(?:\.[^\s>]*)?\s+([^>]+)>")
_TAG = re.compile(r"</?[A-Za-z0-9:.][^>]*>|\{\\[^}]*\}")
_PAUSE = 2.0  # seconds


def load_subtitles(source: Source) -> Document:
    """Read a file of subtitles as a document of one section, titled by its name. Raises BadInput."""
    paragraphs: list[str] = []
    left_out: Counter[str] = Counter()
    last, end, before = "", 0.0, ""
    for begin, stop, speaker, text in _cues(read_text(source), left_out):
        if not text or text == last:  # captions that roll up say each line twice
            end = stop
            continue
        line = f"{speaker}: {text}" if speaker and speaker != before else text
        if paragraphs and begin - end < _PAUSE and speaker == before:
            paragraphs[-1] += f" {line}"
        else:
            paragraphs.append(line)
        last, end, before = text, stop, speaker
    tell(source, left_out)
    if not paragraphs:
        raise BadInput("holds no subtitles")
    return Document(source.key, (Section("\n\n".join(paragraphs)),), source.title, source.shown)


def _cues(text: str, left_out: Counter[str]) -> Iterator[tuple[float, float, str, str]]:
    """Begin and end in seconds, the speaker, or "", and what is said."""
    for block in re.split(r"\n[ \t]*\n", text.replace("\r\n", "\n").replace("\r", "\n")):
        lines = block.strip("\n").split("\n")
        place = next((number for number, line in enumerate(lines) if _CUE.fullmatch(line)), None)
        if place is None:
            left_out["comment"] += lines[0].startswith("NOTE")
            continue
        times = _CUE.fullmatch(lines[place])
        assert times is not None
        speech = "\n".join(lines[place + 1 :])
        speaker = _SPEAKER.search(speech)
        plain = one_line(unescape(_TAG.sub("", speech)))
        yield _seconds(times, 1), _seconds(times, 5), one_line(speaker[1]) if speaker else "", plain


def _seconds(match: re.Match[str], first: int) -> float:
    hours, minutes, seconds, parts = (int(match[first + n] or 0) for n in range(4))
    return 3600.0 * hours + 60 * minutes + seconds + parts / 1000


SUBTITLES = Format("subtitles", (".srt", ".vtt"), whole(load_subtitles))
