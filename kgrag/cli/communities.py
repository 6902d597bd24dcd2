"""kgrag enrich communities: the names of a collection that belong together, with a report on each group."""

from typing import Any

import click

from kgrag.cli.written_texts import run_writing, writing_options


@click.command()
@writing_options("reports", 50, "Most members of a community that is not parted again.")
def communities(**options: Any) -> None:
    """Find the names that belong together: those that passages have in common and facts join, in levels.

    Each community has a report. Without a model it is made of sentences of the passages that name most of its members,
    and is called by its key names. With --ask a language model writes it, those of the parts first; each is asked for
    once, so it may be interrupted, and goes on when it is run again. After an ingest run it again, too: new names join
    the communities that they fit, and only reports whose names or texts have changed are written again. `kgrag search
    --retriever communities` searches by them, `kgrag ask --system global` answers from all reports.

    \b
    kgrag enrich communities notes
    kgrag enrich communities notes --ask --dry-run   what a model would take
    kgrag enrich communities notes --ask --budget 2
    kgrag enrich communities notes --remove
    """
    run_writing(
        options,
        "community",
        "too few names to find communities.",
        lambda c, ask, threads, size, progress: c.build_communities(
            ask=ask, threads=threads, size=size, progress=progress
        ),
        lambda c, progress: c.estimate_communities(progress=progress),
        lambda c: c.remove_communities(),
    )
