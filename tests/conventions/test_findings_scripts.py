"""The scripts of findings/ keep their form; none of them runs here."""

import os
import re
import subprocess
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "findings"
SCRIPTS = sorted(FOLDER.glob("*.sh"))


def test_the_table_lists_each_script_once() -> None:
    listed = re.findall(r"^\| \[[\w-]+\]\(([\w-]+\.sh)\)", (FOLDER / "README.md").read_text(encoding="utf-8"), re.M)
    assert sorted(listed) == [path.name for path in SCRIPTS]
    assert len(SCRIPTS) >= 15


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_a_script_says_what_surprises_and_pins_what_it_installs(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    head = text.partition("set -euo pipefail")[0].splitlines()
    assert head[0] == "#!/usr/bin/env bash" and any(line.startswith("# Source: ") for line in head)
    assert "trap 'rm -rf \"$work\"' EXIT" in text
    (installed,) = re.findall(r" install (.+)$", text, re.M)
    assert all("==" in package for package in installed.split()), installed
    assert "import kgrag" not in text and "from kgrag" not in text
    assert "assert " in text.partition("<<'PY'")[2]
    assert os.access(path, os.X_OK)
    subprocess.run(["bash", "-n", path], check=True)
    compile(text.partition("<<'PY'\n")[2].rpartition("\nPY\n")[0], path.name, "exec")
