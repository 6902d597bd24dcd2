"""The part of a passage most relevant to a question, with the question's words marked."""

import re
import unicodedata
from dataclasses import dataclass

from kgrag.text.letters import UNSPACED
from kgrag.text.tokens import search_form, stems, stems_in

WIDTH = 240
_WORD = re.compile(r"\w+(?:['’.]\w+)*")
_PAIR = re.compile(f"(?=([{UNSPACED}]{{2}}))")  # two letters of a script without spaces, each pair
_CONTROLS = dict.fromkeys([*range(0x20), *range(0x7F, 0xA0)], " ") | dict.fromkeys(
    [*range(0x202A, 0x202F), *range(0x2066, 0x206A)], ""
)  # control characters of terminals and of writing direction
_LEAD = 40  # characters of context kept before the first match


@dataclass(frozen=True, slots=True)
class Snippet:
    """A stretch of a passage on one line; `marks` are the (start, end) of the words that the question shares."""

    text: str
    marks: tuple[tuple[int, int], ...] = ()

    @property
    def core(self) -> str:
        """The text from the first to the last word shared with the question; all of it if no word is shared."""
        return self.text[self.marks[0][0] : self.marks[-1][1]] if self.marks else self.text


def snippet(text: str, question: str, width: int = WIDTH) -> Snippet:
    """Return the window of about `width` characters with the most distinct words of the question; the first if tied.

    Words are compared by stem, and stop words do not count. Without a match it is the beginning of the text.
    """
    line = one_line(text)
    matches = _matches(line, question)
    start, end = _window(line, matches, width)
    head, tail = ("… " if start > 0 else ""), (" …" if end < len(line) else "")
    shift = len(head) - start
    marks: list[tuple[int, int]] = []
    for a, b, _ in matches:
        if a < start or b > end:
            continue
        if marks and a + shift < marks[-1][1]:  # pairs of letters overlap
            a = marks.pop()[0] - shift
        marks.append((a + shift, b + shift))
    return Snippet(f"{head}{line[start:end]}{tail}", tuple(marks))


def one_line(text: str) -> str:
    """Return `text` with composed characters, single spaces, and no control characters of terminals."""
    return " ".join(unicodedata.normalize("NFC", text).translate(_CONTROLS).split())


def crop(text: str, width: int) -> str:
    """Return `text` on one line, cut at a word with an ellipsis if it is longer than `width`."""
    line = one_line(text)
    if len(line) <= width:
        return line
    cut = line[: width - 1]
    return f"{cut.rsplit(' ', 1)[0] or cut} …" if " " in cut else f"{cut}…"


def _matches(line: str, question: str) -> list[tuple[int, int, str]]:
    """Return (start, end, stem) of the words of `line` that occur in the question."""
    question_stems = stems_in(question)
    if not question_stems:
        return []
    words = [(m.start(), m.end(), search_form(m.group())) for m in _WORD.finditer(line)]
    words += [(m.start(), m.end(1), m[1]) for m in _PAIR.finditer(line)]
    words.sort()
    pairs = zip(words, stems([w for _, _, w in words]), strict=True)
    return [(start, end, stem) for (start, end, _), stem in pairs if stem in question_stems]


def _window(line: str, matches: list[tuple[int, int, str]], width: int) -> tuple[int, int]:
    """Return the start and end of the best window, at word boundaries; it may be a word longer than `width`."""
    if len(line) <= width:
        return 0, len(line)
    best, anchor = (0, 0), 0
    for first, _, _ in matches:
        inside = [stem for a, b, stem in matches if a >= first and b <= first + width - _LEAD]
        value = (len(set(inside)), len(inside))
        if value > best:
            best, anchor = value, first
    start = max(0, min(anchor - _LEAD, len(line) - width))
    if start > 0:
        start = line.find(" ", start, anchor) + 1 or start
    end = min(len(line), start + width)
    blank = line.find(" ", end, end + _LEAD)
    if blank >= 0:
        end = blank
    elif len(line) <= end + _LEAD:
        end = len(line)
    return start, end
