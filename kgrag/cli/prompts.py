"""kgrag list prompts: the prompts for language models, and copies of them to edit."""

from pathlib import Path

import click

from kgrag.cli.connect import as_json
from kgrag.cli.console import load_settings, note, print_json, print_pairs


@click.command()
@click.option(
    "--copy",
    "folder",
    metavar="DIR",
    type=click.Path(file_okay=False, path_type=Path),
    help="Copy the prompts there, to be edited; what lies there already stays as it is.",
)
@as_json
def prompts(folder: Path | None, as_json: bool) -> None:
    """List the prompts: their versions, and whether they are kgrag's or your own.

    To use your own, copy them to a folder, edit them there, delete those that stay, and name the folder:
    KGRAG_CHAT__PROMPTS=DIR. A line [system] or [user] begins each message, and $NAME stands where a value goes.
    Passages that were extracted with another version of a prompt are extracted again.

    \b
    kgrag list prompts
    kgrag list prompts --copy my-prompts
    KGRAG_CHAT__PROMPTS=my-prompts kgrag list prompts
    """
    from kgrag.models.prompts import SETTING, file_name, load_prompt, names

    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        made = [to for name in names() if _write(to := folder / file_name(name), load_prompt(name).text)]
        if as_json:
            print_json({"folder": folder, "copied": made})
        else:
            click.echo(f"{len(made)} prompts copied to {folder}; {len(names()) - len(made)} were there already.")
            note(f"Edit them, delete those that stay as they are, and set {SETTING}={folder.absolute()}")
        return
    own = load_settings().chat.prompts
    found = [load_prompt(name, own) for name in names()]
    paths = [own / file_name(p.name) if own and (own / file_name(p.name)).exists() else None for p in found]
    rows = list(zip(found, paths, strict=True))
    if as_json:
        print_json([{"name": p.name, "version": p.version, "values": p.values, "path": path} for p, path in rows])
        return
    print_pairs({prompt.name: f"{prompt.version}  {path or 'of kgrag'}" for prompt, path in rows})
    strange = sorted(p.name for p in own.glob(file_name("*")) if p.stem not in names()) if own else []
    if strange:
        note(f"Not the name of a prompt, so never used: {', '.join(strange)}")


def _write(path: Path, text: str) -> bool:
    """Write a new file; False when there is one already."""
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        return False
    return True
