"""Installation of extras and newer versions: from a clone by make, from elsewhere by pip."""

import os
import subprocess
import tomllib
from pathlib import Path

import pytest

from kgrag.values import installing
from kgrag.values.installing import install_hint, runs_in_clone, update_hint

ROOT = Path(__file__).parents[2]
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]


def make(*words: str) -> subprocess.CompletedProcess[str]:
    """Run make as from a shell, not as the make that runs the tests."""
    env = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")}
    return subprocess.run(["make", *words], cwd=ROOT, env=env, capture_output=True, text=True)


def test_a_clone_installs_by_make(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installing, "runs_in_clone", lambda: True)
    assert install_hint("pdf") == "make extra EXTRA=pdf"
    assert install_hint("pdf", "office") == "make extra EXTRA=pdf,office"
    assert update_hint() == "git pull && make setup"


def test_an_installed_package_installs_by_pip(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installing, "runs_in_clone", lambda: False)
    assert install_hint("pdf") == "pip install 'kgrag[pdf]'"
    assert install_hint("pdf", "office") == "pip install 'kgrag[pdf,office]'"
    assert "pip" not in update_hint() and update_hint().startswith("install the newer kgrag")


def test_a_clone_is_known_by_its_makefile_and_its_environment(tmp_path: Path) -> None:
    """`make extra` is suggested only with kgrag's Makefile and the environment of the clone."""
    venv = tmp_path / ".venv"
    venv.mkdir()
    assert not runs_in_clone(tmp_path, str(venv)), "there is no Makefile"
    (tmp_path / "Makefile").write_text("help:\n\ttrue\n", encoding="utf-8")
    assert not runs_in_clone(tmp_path, str(venv)), "it has no such target"
    (tmp_path / "Makefile").write_text("help:\n\ttrue\n\nextra: help\n\ttrue\n", encoding="utf-8")
    assert runs_in_clone(tmp_path, str(venv))
    assert not runs_in_clone(tmp_path, str(tmp_path / "other"))


@pytest.mark.parametrize(("given", "said"), [((), "Name an extra"), (("EXTRA=",), "Name an extra"),
                                             (("EXTRA=pdf,nothing",), "There is no extra nothing")])  # fmt: skip
def test_an_unknown_extra_or_none_lists_those_that_there_are(given: tuple[str, ...], said: str) -> None:
    done = make("extra", *given)
    assert done.returncode != 0 and done.stdout == ""
    message = done.stderr.splitlines()[0]
    assert message.startswith(said)
    assert message.partition("There are: ")[2].split() == list(EXTRAS)


def test_extras_are_installed_together_and_pinned() -> None:
    done = make("-n", "extra", "EXTRA=pdf,office")
    assert done.returncode == 0
    assert done.stdout.splitlines()[-1].endswith("install -c constraints.txt -e '.[pdf,office]'")
    assert make("-n", "known-extra", "EXTRA=llama-index,neo4j-graphrag").returncode == 0


def test_this_makefile_is_that_of_a_clone() -> None:
    assert runs_in_clone(ROOT, str(ROOT / ".venv"))
