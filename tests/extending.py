"""The packages shown in docs/extending.md, and a folder in which they are installed as an installer does."""

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

PAGE = Path(__file__).parents[1] / "docs" / "extending.md"
_HEADING = re.compile(r"^## .*`(kgrag\.\w+)`$", re.MULTILINE)
_FILE = re.compile(r"^```\w+\n(?:#|//) (\S+\.\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def sections() -> dict[str, str]:
    """Return the text of the page on each group of entry points."""
    parts = _HEADING.split(PAGE.read_text(encoding="utf-8"))
    return {group: text.partition("\n## ")[0] for group, text in zip(parts[1::2], parts[2::2], strict=True)}


def package(group: str) -> dict[str, str]:
    """Return the files of a section's example by name."""
    return {name: text.lstrip() for name, text in _FILE.findall(sections()[group])}


class Installed:
    """A folder of packages beside kgrag's own."""

    def __init__(self, folder: Path, env: dict[str, str]) -> None:
        self.folder = folder
        self.env = {**os.environ, **env, "PYTHONPATH": str(folder)}

    def install(self, files: dict[str, str]) -> None:
        """Install a package: its modules, and the entry points of its pyproject.toml."""
        project = tomllib.loads(files["pyproject.toml"])["project"]
        info = self.folder / f"{project['name']}-{project['version']}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n", encoding="utf-8"
        )
        groups = (
            "\n".join([f"[{group}]", *(f"{name} = {value}" for name, value in entries.items())])
            for group, entries in project["entry-points"].items()
        )
        (info / "entry_points.txt").write_text("\n".join(groups), encoding="utf-8")
        for name, text in files.items():
            if name != "pyproject.toml":
                (self.folder / name).parent.mkdir(exist_ok=True)
                (self.folder / name).write_text(text, encoding="utf-8")

    def kgrag(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run kgrag with the installed packages."""
        command = [sys.executable, "-m", "kgrag", *arguments]
        return subprocess.run(command, env=self.env, capture_output=True, text=True, timeout=120, check=False)

    def json(self, *arguments: str) -> Any:
        """Return its JSON output."""
        run = self.kgrag(*arguments, "--json")
        assert run.returncode == 0, run.stderr
        return json.loads(run.stdout)
