"""Load SubRip (.srt) and WebVTT (.vtt) subtitles as spoken text, in paragraphs separated at pauses and speakers."""

import re
from collections import Counter
from collections.abc import Iterator
from html import unescape

from kgrag.loaders.base import BadInput, Source, one_line, read_text, tell
from kgrag.loaders.reading import Format, single_document
from kgrag.values.documents import Document, Section

_TIME = r"(?:(\d+):)?(\d{1,2}):(\d{2})(?:[.,](\d{1,3}))?"
_NO_CUES = ("NOTE", "STYLE", "REGION", "WEBVTT")
_CUE = re.compile(rf"\s*{_TIME}\s*-->\s*{_TIME}.*")
_VOICE = re.compile(r"<v(?:\.[^\s>]*)?[ \t]+([^>]+)>|</v>")
_TAG = re.compile(r"</?[A-Za-z][^<>]*>|<\d\d[\d:.]*>|\{\\[^}]*\}")
_GAP = 0.5  # seconds: longest gap between captions that roll up
_PAUSE = 2.0  # seconds of a pause that ends a paragraph


def load_subtitles(source: Source) -> Document:
    """Read a file of subtitles as a document of one section, titled by its name. Raises BadInput."""
    paragraphs: list[str] = []
    left_out: Counter[str] = Counter()
    last: list[tuple[str, str]] = []
    end, before = 0.0, ""
    for begin, stop, lines in _cues(read_text(source), left_out):
        again = 0  # lines repeated by captions that roll up
        if begin - end < _GAP:
            again = next((n for n in range(len(lines), 0, -1) if last[-n:] == lines[:n]), 0)
        for speaker, text in lines[again:]:
            if paragraphs and begin - end < _PAUSE and speaker == before:
                paragraphs[-1] += f" {text}"
            else:
                paragraphs.append(f"{speaker}: {text}" if speaker and speaker != before else text)
            end, before = stop, speaker
        last, end = lines or last, stop
    tell(source, left_out)
    if not paragraphs:
        raise BadInput("holds no subtitles")
    return Document(source.key, (Section("\n\n".join(paragraphs)),), source.title, source.shown)


def _cues(text: str, left_out: Counter[str]) -> Iterator[tuple[float, float, list[tuple[str, str]]]]:
    """Yield for each cue its begin and end in seconds, and its lines as (speaker or "", text)."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    blank = r"\n\n" if text.startswith("WEBVTT") else r"\n[ \t]*\n"  # WebVTT cues of YouTube have lines of one space
    cue: tuple[float, float] | None = None
    for block in re.split(blank, text):
        lines = block.strip("\n").split("\n")
        place = next((number for number, line in enumerate(lines) if _CUE.fullmatch(line)), None)
        times = None if place is None else _CUE.fullmatch(lines[place])
        if place is not None and times is not None:
            cue = _seconds(times, 1), _seconds(times, 5)
            yield *cue, list(_said(lines[place + 1 :]))
        elif lines[0].startswith(_NO_CUES):
            left_out["comment"] += lines[0].startswith("NOTE")
        elif cue is not None:  # text after a blank line within a cue
            yield *cue, list(_said(lines))


def _said(lines: list[str]) -> Iterator[tuple[str, str]]:
    speaker = ""
    for line in lines:
        text, *parts = _VOICE.split(line)
        for name, part in zip([speaker, *parts[::2]], [text, *parts[1::2]], strict=True):
            speaker = one_line(unescape(name or ""))
            if plain := one_line(unescape(_TAG.sub("", part))):
                yield speaker, plain


def _seconds(match: re.Match[str], first: int) -> float:
    hours, minutes, seconds, parts = (int(match[first + n] or 0) for n in range(4))
    return 3600.0 * hours + 60 * minutes + seconds + parts / 1000


SUBTITLES = Format("subtitles", (".srt", ".vtt"), single_document(load_subtitles), version=3)
