"""How a command ends that asks a service about passages: what failed, why it stopped, and the exit code."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from kgrag.cli.console import note, print_error

if TYPE_CHECKING:
    from kgrag.errors import ModelError
    from kgrag.indexing.asking import FailedPassage

_SHOWN = 20


def end(failures: "Sequence[FailedPassage]", left: int, stopped: "ModelError | None") -> None:
    """List the passages that failed, say what is left, and end with an exit code where something is wrong."""
    if failures:
        note(f"{number(len(failures), 'passage')} failed; run the same command again to try just these:")
    for failed in failures[:_SHOWN]:
        title = f" ({failed.title})" if failed.title and failed.title != failed.document else ""
        note(f"  {failed.document}{title}: {failed.reason}")
    if len(failures) > _SHOWN:
        note(f"  ... and {len(failures) - _SHOWN:,} more (--json lists them all)")
    if stopped is not None:
        print_error(stopped)
        note(f"{number(left, 'passage')} left; run the same command again to go on.")
        click.get_current_context().exit(stopped.exit_code)
    if failures:
        click.get_current_context().exit(1)


def number(count: int, thing: str) -> str:
    """A count with its thing: "1 passage", "1,200 passages"."""
    return f"{count:,} {thing}{'' if count == 1 else 's'}"
