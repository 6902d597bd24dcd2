"""kgrag list retrievers, systems: the ways to search and to answer, and the options of one of them."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from kgrag.cli.connect import as_json
from kgrag.cli.console import load_settings, print_json, print_pairs, print_table

if TYPE_CHECKING:
    from kgrag.retrieval.base import Retriever
    from kgrag.runtime.options import Options


@click.command()
@click.argument("name", required=False)
@as_json
def retrievers(name: str | None, as_json: bool) -> None:
    """List the ways to search, for `kgrag search --retriever NAME`, or the options of one.

    They compose: NAME(OTHER, ...) works on what others find, and OPTION=VALUE sets one of its options for this search
    alone.

    \b
    kgrag list retrievers
    kgrag list retrievers pathrank                its options: type, default, meaning
    kgrag search "..." --retriever "rrf(hybrid, pathrank)"
    kgrag search "..." --retriever "rrf(bm25, pathrank(cap=20, pagerank_weight=0), rrf=30)"
    """
    from kgrag.retrieval.registry import DEFAULT_RETRIEVER, RETRIEVERS

    if name is not None:
        found = RETRIEVERS.find(name)
        _print_options({"name": name, **_described(found)}, found.options, as_json)
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

    Each strategy and retriever is listed with its paper and section, and with what it needs. With --paper gear (kgp,
    gnn-ret, rgnn-ret, bdtr, hipporag, hipporag2) every setting is listed as that paper has it, with the value in force
    and the section: what `kgrag ask` and `kgrag lab eval` set with the same option. Settings of your own win.

    A system is a strategy over a retriever: STRATEGY+RETRIEVER, with any retriever of `kgrag list retrievers`,
    composed or not. OPTION=VALUE sets one of a strategy's options for this question alone.

    \b
    kgrag list systems
    kgrag list systems gear                       its options: type, default, meaning
    kgrag list systems --paper gear               every setting as GEAR has it
    kgrag ask "..." --system gear+hybrid
    kgrag ask "..." --system "ircot(steps=2)+rrf(bm25, ppr)"
    """
    from kgrag.agents.system import DEFAULT_SYSTEM, STRATEGIES, check_system
    from kgrag.retrieval.registry import RETRIEVERS

    if paper is not None:
        if name is not None:
            raise click.UsageError("NAME and --paper exclude each other.")
        _print_paper(paper, as_json=as_json)
        return
    if name is not None:
        found = STRATEGIES.find(name)
        system = {"over": found.over, "system": check_system(name)}
        about = {"name": name, "summary": found.summary, "paper": found.paper, **system}
        _print_options(about, found.options, as_json)
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
    """What a retriever needs of the graph, and besides."""
    return list(dict.fromkeys(filter(None, [*kind.uses, kind.needs])))


def _described(kind: "type[Retriever]") -> dict[str, Any]:
    """What is said of a retriever in JSON."""
    return {"summary": kind.summary, "over": list(kind.over), "paper": kind.paper, "needs": _needs(kind)}


def _print_paper(name: str, *, as_json: bool) -> None:
    """Print every setting as a paper has it, the value in force, and where the paper says so."""
    from kgrag.cli.lab.papers import rows
    from kgrag.lab.papers import find_paper

    paper = find_paper(name)
    listed = rows(paper, paper.apply(load_settings()))
    if as_json:
        about = {"paper": name, "title": paper.title, "section": paper.section, "system": paper.system}
        more = {"model": paper.model, "settings": listed, "differs": list(paper.differs), "tables": list(paper.tables)}
        print_json({**about, **more})
        return
    click.echo(f"{paper.title}. System: {paper.system} ({paper.section}). The paper's model: {paper.model}.")
    head = ("setting", "value", "in the paper", "where")
    lines = [(r["setting"], r["value"], "" if r["value"] == r["paper"] else r["paper"], r["source"]) for r in listed]
    print_table(head, lines, left=head)
    for text in paper.differs:
        click.echo(f"- {text}")
    if paper.tables:
        figures = f"; figures: {', '.join(paper.figures)}" if paper.figures else ""
        click.echo(f"Its tables here: {', '.join(paper.tables)}{figures} (`kgrag lab reproduce {name}`).")


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
