"""kgrag lab graph-quality: which edges, and how many of them, bring the facts of a question within reach."""

from contextlib import closing
from dataclasses import asdict
from typing import TYPE_CHECKING

import click
from pydantic import Field

from kgrag.cli.connect import connect
from kgrag.cli.console import load_settings, note, print_json, progress_bars
from kgrag.cli.lab.measuring import OnSample, as_paper, ingest, options, print_frames, print_notes, whole_articles

if TYPE_CHECKING:
    from kgrag.lab.graph_quality import Quality


_HEADS = {"sf_em": "SF-EM", "pairs": "|E|", "p50_ms": "ms", "walk_ms": "walk ms"}


class _Options(OnSample):
    edges: tuple[str, ...] = Field(
        (),
        title="-e KIND",
        description="keyword or word (+title), similar, mention, named (+next), title or tagme; repeatable.",
    )
    embedder: tuple[str, ...] = Field((), description="Embedder of the similar edges; repeatable.")
    seeds: int = Field(10, ge=1, le=100, description="TF-IDF passages to begin at.")
    walk: str | None = Field(None, title="EXPR", description="Walk over these edges alone, too, such as kgp.")
    cap: int = Field(50, ge=0, le=10_000, description="Passages that a word or name may have to tie them; 0: any.")


@click.command("graph-quality")
@options
def graph_quality(args: _Options) -> None:
    """Measure the edges between passages on a question set, at growing density (KGP, Figure 4).

    DATASET is a question set as for `kgrag lab eval`, which also ingests it if needed; the graph is not changed. From
    the 10 best TF-IDF passages of a question (--seeds), one step follows one kind of edges. SF-EM is the share of
    questions whose gold is all among the seeds and their neighbours; recall is the share of gold among these passages,
    and precision the share of gold of these passages, all in per cent. Gold means documents, or with --sentences
    supporting facts as in KGP. |E| is the number of edges between passages, and density is 2 |E| / (|V| (|V| - 1)), in
    per cent. The time is one round trip for all seeds of a question.

    The setting of keyword is the number of a passage's best keywords that count, with keyword+title besides the title
    of its document, which ties those that mention it, as in KGP; of similar, that of nearest passages (those that the
    graph does not keep are looked up in the vector index, which takes longer); of mention and title, the number of
    passages that a name may have to tie them; of tagme, how certain TAGME must be of the name (those that `kgrag
    enrich tag` found). With several --embedder the similar edges of each are measured, such as those of an encoder of
    `kgrag lab train next-fact`; the others are the same.

    With --per-question each question has a graph of N documents, its gold and random others, as for `kgrag lab eval`;
    the numbers are means over these graphs. KGP's figures 4 and 9 use such graphs, of 12 whole articles (--articles)
    without a cap. --paper kgp makes each passage a sentence, and keeps as many edges as KGP.

    --walk gives a kgp expression, which then follows each kind of edges alone at each density (KGP, Figure 6a). It
    prints the share of gold among its 30 passages, and the median time of a walk. It follows only edges that the graph
    keeps.

    \b
    kgrag lab graph-quality hotpot.json
    kgrag lab graph-quality hotpot.json --paper kgp --per-question 12 --cap 0 --sentences --plot figure4.png
    kgrag lab graph-quality hotpot.json --walk 'kgp(guide=encoder)' --plot density.png
    kgrag lab graph-quality chains --limit 200 -e similar --embedder minilm --embedder sbert:model --plot quality.png
    kgrag lab graph-quality musique.jsonl --json | jq '.quality[] | select(.edges == "keyword")'
    """
    from kgrag.lab import graph_quality as measured
    from kgrag.lab.question_graphs import QuestionGraphs
    from kgrag.lab.report import check_plot, frame
    from kgrag.models.tagme import can_tag

    kinds = tuple(dict.fromkeys(args.edges)) or measured.USUAL
    measured.check_kinds(kinds)
    walk = None if args.walk is None else measured.check_walk(args.walk)
    if args.plot is not None:
        check_plot(args.plot)
    data = args.draw(whole_articles(args.read(), args.articles))
    print_notes(data)
    questions, seeds, per_question = data.questions, args.seeds, args.per_question
    settings, paper = as_paper(load_settings(), args.paper)
    qualities: list[Quality] = []
    with progress_bars() as progress:
        for number, embedder in enumerate(dict.fromkeys(args.embedder or (settings.embedder,))):
            own_kinds = kinds if number == 0 else tuple(kind for kind in kinds if kind == "similar")
            arguments = (questions, seeds, own_kinds, embedder, progress, walk, data.gold_texts, args.cap)
            own = settings.model_copy(update={"embedder": embedder})
            where = args.collection or data.collection(embedder, settings.max_file_mb, settings.indexing, paper)
            with connect(own) as kg:
                if per_question is None:
                    context = ingest(kg, data, where, embedder, progress).context
                    passages = context.reader.question(names=[], stemmed=[], words=[])["passages"] or 0
                    qualities += measured.quality(context, *arguments)
                else:
                    tag = "tagme" in own_kinds and can_tag(own)
                    graphs = QuestionGraphs(kg[where], data, per_question, args.seed, progress, tag=tag)
                    with closing(graphs):
                        qualities += measured.quality(graphs, *arguments)
                    passages = round(graphs.passages or 0)
    title = f"{data.name}: {len(questions)} questions, {seeds} seeds, |V| {passages:,}"
    title += f" a question (graphs of {per_question} documents)" if per_question is not None else ""
    title += f", {walk}" if walk is not None else ""
    if args.plot is not None:
        measured.plot_quality(qualities, title, args.plot)
        note(f"Drawn: {args.plot}")
    if args.as_json:
        about = {"dataset": data.name, "questions": len(questions), "seeds": seeds, "walk": walk, "passages": passages}
        print_json({**about, "quality": qualities})
    else:
        table = frame(map(asdict, qualities), "edges", "setting").dropna(axis="columns", how="all")
        shares = ["sf_em", "recall", "precision", "density", *table.columns.intersection(["walk"])]
        table[shares] *= 100
        print_frames({title: table.rename(columns=_HEADS).round(2)})
