"""Profiles: settings that belong together, such as those of a paper. The option --paper chooses one."""

from typing import TYPE_CHECKING

import click

from kgrag.cli.console import note, print_list
from kgrag.runtime.plugins import Plugins

if TYPE_CHECKING:
    from kgrag.settings import Profile, Settings

PAPER_HELP = "Set indexing, retrieval, strategy and reader as this paper has them: `kgrag list systems --paper NAME`."
paper_option = click.option("--paper", metavar="NAME", help=PAPER_HELP)


PROFILES: "Plugins[Profile]" = Plugins("kgrag.profiles", "paper")


def apply_profile(settings: "Settings", profile: "Profile", *, quiet: bool = False) -> "Settings":
    """Return the settings of a profile; unless `quiet` standard error names it and the settings that differ."""
    settings = profile.apply(settings)
    if not quiet:
        about = profile.about(settings)
        name, rows = about["paper"], about["settings"]
        note(f"Everything is set as {name} has it: `kgrag list systems --paper {name}` says what and where.")
        if own := [f"{row['setting']}={row['value']}" for row in rows if row["value"] != row["paper"]]:
            print_list("But as you set it:", own)
    return settings
