"""docs/architecture.md's drawing matches the imports; `python tests/docs/test_architecture.py --write` draws it."""

import ast
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "architecture.md"
_BLOCK = re.compile(r"(?<=```text\n).*?(?=```)", re.DOTALL)
_WHERE = {"loaders": ROOT / "loaders"}
_APART = {"__init__", "__main__", "cypher"}  # the entry points; the queries, which are not Python


def rooms() -> dict[str, Path]:
    """Return the packages and modules at the top of kgrag, by name."""
    inside = {path.stem: path for path in (ROOT / "kgrag").iterdir() if path.suffix == ".py" or _is_package(path)}
    return {name: path for name, path in (inside | _WHERE).items() if name not in _APART}


def _is_package(path: Path) -> bool:
    return (path / "__init__.py").exists()


def imported(path: Path) -> Iterator[str]:
    """Return the packages that the modules of a package import at run time."""
    for file in sorted(path.rglob("*.py")) if path.is_dir() else [path]:
        tree = ast.parse(file.read_text(encoding="utf-8"))
        unseen = [n for n in ast.walk(tree) if isinstance(n, ast.If) and "TYPE_CHECKING" in ast.unparse(n.test)]
        typed = {id(inner) for node in unseen for part in node.body for inner in ast.walk(part)}
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and id(node) not in typed and (node.module or "").startswith("kgrag"):
                names = [node.module or ""] if node.module != "kgrag" else [f"kgrag.{a.name}" for a in node.names]
                yield from (name.split(".")[1] for name in names)


def drawing() -> str:
    """Draw the packages by level, each importing only packages below it, with the first sentence of its docstring."""
    paths = rooms()
    uses = {
        name: {other for other in imported(path) if other in paths and other != name} for name, path in paths.items()
    }

    @cache
    def floor(name: str) -> int:
        return 1 + max(map(floor, uses[name]), default=-1)

    lines = []
    for level in sorted(set(map(floor, paths)), reverse=True):
        for name in sorted(name for name in paths if floor(name) == level):
            path = paths[name]
            text = (path / "__init__.py" if path.is_dir() else path).read_text(encoding="utf-8")
            said = " ".join((ast.get_docstring(ast.parse(text)) or "").split("\n\n")[0].split())
            lines.append(f"{level:>2}  {name:<11} {said.partition('. ')[0].rstrip('.')}")
    return "\n".join(lines) + "\n"


def test_the_drawing_is_that_of_the_imports() -> None:
    assert _BLOCK.findall(PAGE.read_text(encoding="utf-8"))[-1] == drawing()


if __name__ == "__main__":
    if sys.argv[1:] != ["--write"]:
        sys.exit(__doc__)
    text = PAGE.read_text(encoding="utf-8")
    start, end = [match.span() for match in _BLOCK.finditer(text)][-1]
    PAGE.write_text(text[:start] + drawing() + text[end:], encoding="utf-8")
