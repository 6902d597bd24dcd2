"""Variables and parameters are named by nouns: `match`, `candidates`, `reply`."""

import ast
from collections.abc import Iterator
from pathlib import Path

_ROOT = Path(__file__).parents[2]
_MODULES = sorted(path for part in ("kgrag", "loaders") for path in (_ROOT / part).rglob("*.py"))
# These words do not describe a value, so one function used them for three things.
_PARTICIPLES = frozenset(
    "asked begun chosen drawn found given gone held its kept known made meant said sent shown taken told wanted "
    "written".split()
)
_PLANTED = """
def f(given):
    its = [kept for kept in given]
    match its:
        case shown: pass
"""


def _participles(tree: ast.AST) -> Iterator[str]:
    functions = [
        node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
    ]
    for node in {inner: None for function in functions for inner in ast.walk(function)}:
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name) | ast.MatchAs(name=str(name)):
                if name in _PARTICIPLES:
                    yield f"{name}, line {node.lineno}"


def test_variables_are_nouns() -> None:
    names = {path: list(_participles(ast.parse(path.read_text(encoding="utf-8")))) for path in _MODULES}
    assert {str(path.relative_to(_ROOT)): words for path, words in names.items() if words} == {}


def test_participles_are_reported() -> None:
    assert sorted(_participles(ast.parse(_PLANTED))) == [
        "given, line 2",
        "its, line 3",
        "kept, line 3",
        "shown, line 5",
    ]
