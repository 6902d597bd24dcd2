"""Numbering of lists in Word: the list of a paragraph, and its marker."""

from collections import defaultdict
from typing import Any

from kgrag.loaders.inline import ordinal
from kgrag.loaders.office_parts import child, setting, tag, value

_KINDS = {"lowerLetter": "a", "upperLetter": "A", "lowerRoman": "i", "upperRoman": "I", "decimalZero": "01",
          "ordinal": "1st"}  # fmt: skip


class WordNumbering:
    """The lists of a document and their current numbers."""

    def __init__(self, elements: list[Any]) -> None:
        abstract = {value(e, "abstractNumId"): e for e in elements if tag(e) == "abstractNum"}
        styled = {
            value(link, "val"): number
            for number, element in abstract.items()
            if (link := child(element, "styleLink")) is not None
        }
        self._lists: dict[str, tuple[str, dict[int, Any]]] = {}  # id -> the list and its levels
        self._starts: dict[str, dict[int, int]] = {}  # id -> level -> the number at which it restarts
        self._at: dict[str, dict[int, int]] = defaultdict(dict)
        self._started: set[tuple[str, int]] = set()
        for element in elements:
            named = child(element, "abstractNumId")
            if tag(element) != "num" or named is None:
                continue
            number, of = value(element, "numId"), value(named, "val")
            if (link := child(abstract.get(of), "numStyleLink")) is not None:
                of = styled.get(value(link, "val"), of)
            levels = {int(value(e, "ilvl") or 0): e for e in abstract.get(of, ()) if tag(e) == "lvl"}
            for override in (e for e in element if tag(e) == "lvlOverride"):
                level = int(value(override, "ilvl") or 0)
                if (start := child(override, "startOverride")) is not None:
                    self._starts.setdefault(number, {})[level] = int(value(start, "val") or 1)
                if (own := child(override, "lvl")) is not None:
                    levels[level] = own
            self._lists[number] = of, levels

    def level(self, number: str, style: str) -> int:
        """Return the level of a list that is linked to a paragraph style."""
        levels = self._lists.get(number, ("", {}))[1]
        return next((level for level, form in levels.items() if setting(form, "pStyle") == style), 0)

    def marker(self, listed: tuple[str, int] | None) -> str | None:
        """Return the marker of a list's next item, "- " or "3. ", indented by its level; None without a list."""
        if listed is None or listed[0] == "0":
            return None
        number, level = listed
        of, levels = self._lists.get(number, ("", {}))
        indent = "  " * min(level, 20)
        if level not in levels or setting(levels[level], "numFmt") in ("bullet", "none"):
            return f"{indent}- "
        at = self._at[of]
        if (number, level) not in self._started and level in self._starts.get(number, {}):
            at[level] = self._starts[number][level]
        else:
            at[level] = at[level] + 1 if level in at else int(setting(levels[level], "start") or 1)
        self._started.add((number, level))
        for deeper in [other for other in at if other > level]:
            del at[deeper]
        label = setting(levels[level], "lvlText") or f"%{level + 1}."
        for other in range(9):
            if f"%{other + 1}" in label:
                form = levels.get(other, levels[level])
                start = int(setting(form, "start") or 1)
                kind = "1" if child(levels[level], "isLgl") is not None else _KINDS.get(setting(form, "numFmt"), "1")
                text = ordinal(at.get(other, start), kind)
                label = label.replace(f"%{other + 1}", text)
        return f"{indent}{label} "
