"""Which files of a folder are passed over: what `.gitignore` files say, and patterns of their kind (gitignore(5))."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path, PurePath

ALWAYS = ("node_modules/", ".git/", ".venv/", "__pycache__/")
"""What holds the work of others, or of machines."""
_NAME = ".gitignore"
_MAX_BYTES = 1_000_000


@dataclass(frozen=True, slots=True)
class _Rule:
    path: re.Pattern[str]  # below the folder of the file that it stands in
    base: PurePath
    kept: bool  # "!": what matches is read nevertheless
    folders: bool  # "/": only folders match

    def matches(self, path: PurePath, is_folder: bool) -> bool:
        if (self.folders and not is_folder) or not path.is_relative_to(self.base):
            return False
        return self.path.fullmatch(path.relative_to(self.base).as_posix()) is not None


class Ignore:
    """The patterns that hold in a folder and below it; of those that match, the last one counts."""

    def __init__(self, top: Path, patterns: Iterable[str] = (), *, files: bool = True) -> None:
        self._top = top
        self._real = top.resolve()
        self._files = files
        self._given = list(filter(None, (_rule(self._real, line) for line in (*ALWAYS, *patterns))))
        self._found: list[_Rule] = []
        for folder in reversed(_above(self._real)):
            self._heed(folder)

    def enter(self, folder: Path) -> None:
        """Heed the patterns of a folder that is gone into."""
        self._heed(self._real / folder.relative_to(self._top))

    def _heed(self, folder: Path) -> None:
        if not self._files:
            return
        try:
            with (folder / _NAME).open("rb") as file:
                lines = file.read(_MAX_BYTES).decode("utf-8", "replace").splitlines()
        except OSError:  # most folders have none
            return
        self._found.extend(filter(None, (_rule(folder, line) for line in lines)))

    def passes_over(self, path: Path, *, is_folder: bool) -> str:
        """Return why a path is skipped, "excluded" or "in .gitignore"; "" for one that is read."""
        real = self._real / path.relative_to(self._top)
        for rules, why in ((self._given, "excluded"), (self._found, f"in {_NAME}")):
            last = next((rule for rule in reversed(rules) if rule.matches(real, is_folder)), None)
            if last is not None and not last.kept:
                return why
        return ""


def _above(top: Path) -> list[Path]:
    """Return the folders between a folder and the root of its repository, from the inside."""
    found: list[Path] = []
    if not (top / ".git").exists():
        for folder in top.parents:
            found.append(folder)
            if (folder / ".git").exists():
                return found
    return []


def _rule(base: PurePath, line: str) -> _Rule | None:
    """Return the rule of a line; None for a comment or nothing."""
    line = re.sub(r"(?<!\\) +$", "", line)
    if not line or line.startswith("#"):
        return None
    kept = line.startswith("!")
    line = line.removeprefix("!")
    folders = line.endswith("/")
    line = line.strip("/") if "/" not in line.strip("/") and not line.startswith("/") else f"/{line.strip('/')}"
    return _Rule(_pattern(line), base, kept, folders) if line.strip("/") else None


def _pattern(line: str) -> re.Pattern[str]:
    """Return a pattern as a regular expression; one with "/" before it matches in its own folder alone."""
    parts = ["" if line.startswith("/") else "(?:.*/)?"]
    rest = line.removeprefix("/")
    place = 0
    while place < len(rest):
        character = rest[place]
        if rest.startswith("**/", place) and (place == 0 or rest[place - 1] == "/"):
            parts.append("(?:.*/)?")
            place += 3
            continue
        if rest[place:] == "**" and (place == 0 or rest[place - 1] == "/"):
            parts.append(".*")
            break
        close = rest.find("]", place + 2) if character == "[" else -1
        if close > 0:
            inner = rest[place + 1 : close].replace("\\", "\\\\").replace("[", "\\[")
            parts.append(f"[{'^' + inner[1:] if inner[0] in '!^' else inner}]")
            place = close
        elif character == "*":
            parts.append("[^/]*")
        elif character == "?":
            parts.append("[^/]")
        elif character == "\\" and place + 1 < len(rest):
            place += 1
            parts.append(re.escape(rest[place]))
        else:
            parts.append(re.escape(character))
        place += 1
    try:
        return re.compile("".join(parts), re.DOTALL)
    except re.error:  # "[z-a]" matches nothing
        return re.compile(r"(?!)")
