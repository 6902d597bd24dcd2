"""The project does not grow unnoticed: a commit that needs more lines raises the limit here and gives the reason."""

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PRODUCT = ("kgrag", "loaders", "cypher")
LIMITS = {
    "lines of product": (PRODUCT, (".py", ".cypher"), 82_939),
    "lines of tests": (("tests",), (".py",), 56_965),
    "lines of JavaScript and CSS": (("kgrag/server/web",), (".js", ".css"), 5_620),
}


def _files(folders: tuple[str, ...], endings: tuple[str, ...]) -> list[Path]:
    found = (path for folder in folders for path in (ROOT / folder).rglob("*") if path.suffix in endings)
    return [path for path in found if "__pycache__" not in path.parts]


@pytest.mark.parametrize("what", LIMITS)
def test_lines_stay_within_the_limit(what: str) -> None:
    folders, endings, limit = LIMITS[what]
    lines = sum(path.read_text(encoding="utf-8").count("\n") for path in _files(folders, endings))
    assert 0.9 * limit < lines <= limit, f"{lines:,} {what}: lower the limit where they became fewer"


def test_modules_stay_within_the_limit() -> None:
    assert len(_files(PRODUCT, (".py",))) <= 404
