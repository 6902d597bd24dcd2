"""kgrag enrich tag: TAGME reads the passages of a collection for Wikipedia entities."""

from typing import Any

import click

from kgrag.cli.connect import as_json, choose_collection, collection_option, connect, engine_options
from kgrag.cli.console import changed, load_settings, number, print_json
from kgrag.cli.outcome import end, resumable


@click.command()
@collection_option()
@click.option("--token", metavar="TOKEN", help="Token of D4Science; KGRAG_TAGME__TOKEN keeps it out of sight.")
@click.option("--local", is_flag=True, help="Ask no server: link to the titles of the collection's own documents.")
@click.option("--threshold", type=click.FloatRange(0, 1), metavar="RHO", help="How sure TAGME must be.  [default: 0.1]")
@click.option("--threads", default=4, show_default=True, type=click.IntRange(1, 64), help="Passages asked for at once.")
@click.option("--limit", type=click.IntRange(1), metavar="N", help="At most so many passages, for a try.")
@click.option("--dry-run", is_flag=True, help="Say how many passages are left, and ask nothing.")
@engine_options
@as_json
def tag(
    collection: str | None,
    token: str | None,
    local: bool,
    threshold: float | None,
    threads: int,
    limit: int | None,
    dry_run: bool,
    engine: dict[str, Any],
    as_json: bool,
) -> None:
    """Have TAGME name the Wikipedia articles that the passages of a collection speak of.

    They become mentions of entities, also where a text calls them by another name; passages that share one are tied by
    it: `kgrag search --retriever "kgp(edges=(tagme,))"`. What was tagged is not asked for again, so the same command
    goes on where it was after it was interrupted, and takes in what was ingested since; another threshold is taken from
    replies kept on disk. KGRAG_TAGME__ENDPOINT names another server than the public one.

    --local (KGRAG_TAGME__ENDPOINT=titles) asks no server and takes no token: what is linked to are the titles of the
    collection's own documents, by TAGME's votes and rho, counted in the collection. When documents came since, all is
    tagged again.

    \b
    kgrag enrich tag -c notes --dry-run             how many passages are left
    kgrag enrich tag -c notes --limit 20            a try with twenty passages
    kgrag enrich tag -c notes --local               by the titles of its own documents
    kgrag enrich tag -c notes --threshold 0.3       only what it is sure of
    """
    from pydantic import SecretStr

    from kgrag.models.tagme import TITLES

    secret = None if token is None else SecretStr(token)
    settings = changed(load_settings(), "tagme", token=secret, threshold=threshold, endpoint=TITLES if local else None)
    settings = changed(settings, "engine", **engine)
    with connect(settings) as kg:
        name = choose_collection(kg, collection)
        if dry_run:
            left = kg[name].untagged()
            due = left if limit is None else min(left, limit)
            calls = "no call" if settings.tagme.endpoint == TITLES else f"{number(due, 'call')} if none fails"
            if as_json:
                print_json({"collection": name, "passages": due, "left": left})
            else:
                click.echo(f"Collection {name}: {number(due, 'passage')} to tag, {calls}")
            return
        with resumable() as progress:
            report = kg[name].tag(threads=threads, limit=limit, progress=progress)
    by = " by the titles of its own documents" if settings.tagme.endpoint == TITLES else ""
    done = f"{number(report.passages, 'passage')} tagged{by}, {report.left:,} left"
    text = f"Collection {name}: {done}; {number(report.mentions, 'mention')} in {report.seconds:.1f} s"
    end(report, name, None if as_json else text)
