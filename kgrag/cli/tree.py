"""kgrag enrich tree: summaries over the passages of a collection, and over these."""

from typing import Any

import click

from kgrag.cli.written_texts import run_writing, writing_options


@click.command()
@writing_options("summaries", 8, "Members of a summary on average.")
def tree(**options: Any) -> None:
    """Sum up a collection: passages that are alike, these summaries again, up to the few topics of all.

    Without a model a summary is made of the sentences that are nearest to the middle of its passages, and is called by
    their keywords. With --ask a language model writes them, each once; it may be interrupted, and goes on when it is
    run again. After an ingest run it again, too: new passages go to the topics that they fit, and only what has changed
    is written again. `kgrag search --retriever raptor` searches the tree, `kgrag cypher topics` shows it.

    \b
    kgrag enrich tree notes
    kgrag enrich tree notes --ask --dry-run          what a model would take
    kgrag enrich tree notes --ask --budget 2
    kgrag cypher topics -c notes              the topics, the largest first
    kgrag enrich tree notes --remove
    """
    run_writing(
        options,
        "summary",
        "too few passages to sum up.",
        lambda c, ask, threads, size, progress: c.build_tree(ask=ask, threads=threads, size=size, progress=progress),
        lambda c, progress: c.estimate_tree(progress=progress),
        lambda c: c.remove_tree(),
    )
