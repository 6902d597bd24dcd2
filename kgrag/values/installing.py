"""Commands that install a missing extra, or a newer version of kgrag.

No package index holds kgrag yet, so the command depends on where kgrag runs: in the environment that `make` sets up in
a clone, or as an installed package, whose extras pip resolves from the installed packages.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kgrag.values.errors import ConfigurationError

_SOURCE = Path(__file__).parents[2]


def install_hint(*extras: str) -> str:
    """Return the command that installs extras of kgrag.

    Args:
        extras: names of extras in pyproject.toml, such as "pdf".

    Returns:
        One shell command, without a full stop: for "pdf" `make extra EXTRA=pdf`, to be run in the clone, or
        `pip install 'kgrag[pdf]'` where kgrag is an installed package.
    """
    names = ",".join(extras)
    return f"make extra EXTRA={names}" if runs_in_clone() else f"pip install 'kgrag[{names}]'"


@contextmanager
def require_extra(extra: str, problem: str, remedy: str = "Install it: {}") -> Iterator[None]:
    """Guard imports of packages that an extra brings.

    Args:
        extra: its name.
        problem: the message of an error; {} stands for the name of the missing package.
        remedy: the remedy; {} stands for the command that installs the extra.

    Raises:
        ConfigurationError: a package is missing.
    """
    try:
        yield
    except ImportError as error:
        problem = problem.replace("{}", error.name or "")
        raise ConfigurationError(problem, remedy.replace("{}", install_hint(extra))) from error


def update_hint() -> str:
    """Return the command that installs a newer version of kgrag.

    Returns:
        A shell command in a clone; elsewhere an instruction in words, since no package index holds kgrag.
    """
    return "git pull && make setup" if runs_in_clone() else "install the newer kgrag as you installed this one"


def runs_in_clone(source: Path = _SOURCE, prefix: str = sys.prefix) -> bool:
    """Return whether kgrag runs in the virtual environment that its own Makefile set up.

    Args:
        source: the folder that holds the package `kgrag`; of an installed package, site-packages.
        prefix: the folder of the virtual environment.
    """
    makefile = source / "Makefile"
    if Path(prefix).resolve() != (source / ".venv").resolve() or not makefile.is_file():
        return False
    return "\nextra:" in makefile.read_text(encoding="utf-8")
