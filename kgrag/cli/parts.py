"""kgrag list retrievers, systems, prompts, settings: the available parts, and the settings in force."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kgrag.cli.connect import as_json
from kgrag.cli.console import load_settings, note, print_json, print_pairs, print_table
from kgrag.runtime.files import user_file, write_atomic

if TYPE_CHECKING:
    from kgrag.cli.settings_list import InForce
    from kgrag.retrieval.base import Retriever
    from kgrag.runtime.options import Options


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

    To use your own prompts, copy them to a folder, edit some, delete the others, and name the folder:
    KGRAG_CHAT__PROMPTS=DIR. A line [system] or [user] begins each message, and $NAME is the place of a value. Passages
    that were extracted with another version of a prompt are extracted again.

    \b
    kgrag list prompts
    kgrag list prompts --copy my-prompts
    KGRAG_CHAT__PROMPTS=my-prompts kgrag list prompts
    """
    from kgrag.models.prompts import SETTING, file_name, load_prompt, names

    if folder is not None:
        with user_file(folder):
            folder.mkdir(parents=True, exist_ok=True)
        files = [to for name in names() if _write(to := folder / file_name(name), load_prompt(name).text)]
        if as_json:
            print_json({"folder": folder, "copied": files})
        else:
            click.echo(f"{len(files)} prompts copied to {folder}; {len(names()) - len(files)} were there already.")
            note(f"Edit them, delete those that stay as they are, and set {SETTING}={folder.absolute()}")
        return
    own = load_settings().chat.prompts
    entries = [load_prompt(name, own) for name in names()]
    paths = [own / file_name(p.name) if own and (own / file_name(p.name)).exists() else None for p in entries]
    rows = list(zip(entries, paths, strict=True))
    if as_json:
        print_json([{"name": p.name, "version": p.version, "values": p.values, "path": path} for p, path in rows])
        return
    print_pairs({prompt.name: f"{prompt.version}  {path or 'of kgrag'}" for prompt, path in rows})
    strange = sorted(p.name for p in own.glob(file_name("*")) if p.stem not in names()) if own else []
    if strange:
        note(f"Not the name of a prompt, so never used: {', '.join(strange)}")


def _write(path: Path, text: str) -> bool:
    """Write a new file; False when there is one already."""
    if path.exists():
        return False
    with user_file(path):
        write_atomic(path, text)
    return True


@click.command()
@click.argument("words", nargs=-1, metavar="[WORD]...")
@click.option("--markdown", is_flag=True, help="Print all of them, their types and defaults, as a page in Markdown.")
@as_json
def settings(words: tuple[str, ...], markdown: bool, as_json: bool) -> None:
    """List the settings: environment variable, value, source, meaning.

    Words limit the list to settings whose line has all of them. Keys and passwords are shown as ***.

    \b
    kgrag list settings
    kgrag list settings chat                      those of language models
    kgrag list settings environment               settings of the environment (".env": of that file)
    KGRAG_LOCAL__HEAP=4g kgrag db status        set one
    """
    load_settings()  # an invalid one is an error that names it
    from kgrag.cli.settings_list import in_force, page

    if markdown:
        click.echo(page())
        return
    rows = {f"{r.setting.variable}={r.value}  [{r.source}]  {r.setting.meaning}": r for r in in_force()}
    matches = {line: r for line, r in rows.items() if all(word.lower() in line.lower() for word in words)}
    if as_json:
        print_json([_json(r) for r in matches.values()])
        return
    for line in matches:
        click.echo(line)


def _json(row: "InForce") -> dict[str, str]:
    of = row.setting
    fields = {"variable": of.variable, "value": row.value, "source": row.source}
    return {**fields, "type": of.type, "default": of.default, "meaning": of.meaning}


@click.command()
@click.argument("name", required=False)
@as_json
def retrievers(name: str | None, as_json: bool) -> None:
    """List the ways to search, for `kgrag search --retriever NAME`, or the options of one.

    Retrievers compose: NAME(OTHER, ...) works on the results of others, and OPTION=VALUE sets an option for this search
    alone.

    \b
    kgrag list retrievers
    kgrag list retrievers pathrank                its options: type, default, meaning
    kgrag search "..." --retriever "rrf(hybrid, pathrank)"
    kgrag search "..." --retriever "rrf(bm25, pathrank(cap=20, pagerank_weight=0), rrf=30)"
    """
    from kgrag.retrieval.base import DEFAULT_RETRIEVER, RETRIEVERS

    if name is not None:
        kind = RETRIEVERS.find(name)
        _print_options({"name": name, **_described(kind)}, kind.options, as_json)
    elif as_json:
        print_json(
            [{"name": n, **_described(entry), "default": n == DEFAULT_RETRIEVER} for n, entry in RETRIEVERS.items()]
        )
    else:
        default = {DEFAULT_RETRIEVER: " (the default)"}
        print_pairs({name: f"{entry.summary}{default.get(name, '')}" for name, entry in RETRIEVERS.items()})


@click.command()
@click.argument("name", required=False)
@click.option("--paper", metavar="NAME", help="Every setting as this paper has it, and where it says so.")
@as_json
def systems(name: str | None, paper: str | None, as_json: bool) -> None:
    """List the ways to answer, for `kgrag ask --system NAME`, or the options of one.

    Each strategy and retriever is listed with its paper and section, and with its requirements. With --paper gear (kgp,
    gnn-ret, rgnn-ret, bdtr, hipporag, hipporag2) every setting of that paper is listed with the value in force and the
    section; `kgrag ask` and `kgrag lab eval` set these with the same option. Your own settings take precedence.

    A system is a strategy over a retriever: STRATEGY+RETRIEVER, with any retriever of `kgrag list retrievers`, composed
    or not. OPTION=VALUE sets an option of the strategy for this question alone.

    \b
    kgrag list systems
    kgrag list systems gear                       its options: type, default, meaning
    kgrag list systems --paper gear               every setting as GEAR has it
    kgrag ask "..." --system gear+hybrid
    kgrag ask "..." --system "ircot(steps=2)+rrf(bm25, ppr)"
    """
    from kgrag.agents.system import DEFAULT_SYSTEM, STRATEGIES, check_system
    from kgrag.retrieval.base import RETRIEVERS

    if paper is not None:
        if name is not None:
            raise click.UsageError("NAME and --paper exclude each other.")
        _print_paper(paper, as_json=as_json)
        return
    if name is not None:
        kind = STRATEGIES.find(name)
        system = {"over": kind.over, "system": check_system(name)}
        about = {"name": name, "summary": kind.summary, "paper": kind.paper, **system}
        _print_options(about, kind.options, as_json)
        return
    default = check_system(DEFAULT_SYSTEM)
    if as_json:
        listed = [
            {
                "name": name,
                "summary": entry.summary,
                "paper": entry.paper,
                "needs": [_MODEL],
                "over": entry.over,
                "system": check_system(name),
            }
            for name, entry in STRATEGIES.items()
        ]
        over = [{"name": n, **_described(entry)} for n, entry in RETRIEVERS.items()]
        print_json({"strategies": listed, "retrievers": over, "default": default})
        return
    click.echo(f"Strategies, which need {_MODEL}, and what they are over alone:")
    print_pairs(
        {n: f"{entry.summary} [{entry.paper or '-'}] (alone: {check_system(n)})" for n, entry in STRATEGIES.items()}
    )
    click.echo("\nRetrievers:")
    print_pairs(
        {n: f"{e.summary} [{e.paper or '-'}] (needs: {', '.join(_needs(e)) or '-'})" for n, e in RETRIEVERS.items()}
    )
    click.echo(f"\nThe default is {default}.")


_MODEL = "a language model"


def _needs(kind: "type[Retriever]") -> list[str]:
    """Return what a retriever needs of the graph, and besides."""
    return list(dict.fromkeys(filter(None, [*kind.uses, kind.needs])))


def _described(kind: "type[Retriever]") -> dict[str, Any]:
    """Return the description of a retriever for JSON."""
    return {"summary": kind.summary, "over": list(kind.over), "paper": kind.paper, "needs": _needs(kind)}


def _print_paper(name: str, *, as_json: bool) -> None:
    """Print every setting as a paper has it, the value in force, and where the paper says so."""
    from kgrag.cli.profiles import PROFILES

    profile = PROFILES.find(name)
    about = profile.about(profile.apply(load_settings()))
    if as_json:
        print_json(about)
        return
    click.echo("{title}. System: {system} ({section}). The paper's model: {model}.".format(**about))
    head = ("setting", "value", "in the paper", "where")
    rows = about["settings"]
    lines = [(r["setting"], r["value"], "" if r["value"] == r["paper"] else r["paper"], r["source"]) for r in rows]
    print_table(head, lines, left=head)
    for text in about["differs"]:
        click.echo(f"- {text}")
    if about["tables"]:
        figures = f"; figures: {', '.join(about['figures'])}" if about["figures"] else ""
        click.echo(f"Its tables here: {', '.join(about['tables'])}{figures} (`kgrag lab reproduce {name}`).")


def _print_options(about: Mapping[str, Any], options: "type[Options]", as_json: bool) -> None:
    from kgrag.cli.settings_list import settings_in

    rows = {setting.path[-1]: setting for setting in settings_in(options, ())}
    if as_json:
        fields = [{"name": n, "type": s.type, "default": s.default, "meaning": s.meaning} for n, s in rows.items()]
        print_json({**about, "options": fields})
        return
    click.echo(f"{about['name']}: {about['summary']}")
    head = ("option", "type", "default", "meaning")
    print_table(head, [(name, s.type, s.default, s.meaning) for name, s in rows.items()], left=head)
