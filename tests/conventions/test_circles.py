"""No module imports itself indirectly, so you can read and move a module before the modules that import it."""

import ast
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDERS = {"kgrag": "kgrag", "loaders": "kgrag.loaders"}


def test_imports_have_no_circles() -> None:
    """Imports have no cycle, including those inside functions, for types and in stubs."""
    files: dict[str, list[Path]] = {}
    for folder, package in FOLDERS.items():
        for path in sorted((ROOT / folder).rglob("*.py*")):
            if path.suffix in (".py", ".pyi"):
                name = ".".join((package, *path.relative_to(ROOT / folder).with_suffix("").parts))
                files.setdefault(name.removesuffix(".__init__"), []).append(path)
    imports = {name: {i for path in paths for i in imported(name, path, files)} for name, paths in files.items()}
    assert imports["kgrag.cli.console"] and "kgrag.client.graph" in imports["kgrag"]
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        raise AssertionError(" -> ".join(error.args[1])) from None


def imported(name: str, path: Path, modules: dict[str, list[Path]]) -> set[str]:
    """Return the modules that a file imports, except itself."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            origin = f"{name}.{node.module}" if node.level else node.module or ""
            found.update(m if (m := f"{origin}.{alias.name}") in modules else origin for alias in node.names)
    return found & modules.keys() - {name}
