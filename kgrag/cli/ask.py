"""kgrag ask: questions that a language model answers from what the graph holds."""

from typing import TYPE_CHECKING, NoReturn

import click

from kgrag.cli.connect import (
    as_json,
    choose_collections,
    collection_option,
    connect,
    filter_options,
    knowledge_option,
    question_argument,
)
from kgrag.cli.console import load_settings, note, number, print_json
from kgrag.cli.profiles import PROFILES, apply_profile, paper_option
from kgrag.cli.runs import print_drawing
from kgrag.values.errors import ConfigurationError, KgragError, ModelError

if TYPE_CHECKING:
    from kgrag.client.searching import LocalSearching
    from kgrag.retrieval.base import Query
    from kgrag.values.results import Range, Scalar


@click.command()
@question_argument
@collection_option()
@click.option("-s", "--system", metavar="NAME", help="System that answers: see `kgrag list systems`.")
@paper_option
@click.option("-k", default=15, show_default=True, type=click.IntRange(1), help="Number of passages to rank.")
@click.option("--effort", type=click.Choice(["low", "medium", "high"]), help="Limit for steps and passages.")
@click.option("--short", is_flag=True, help="Answer in a few words, without citations.")
@filter_options
@knowledge_option
@click.option("--save", is_flag=True, help="Keep the run in the graph: how the answer came about, for Neo4j Browser.")
@click.option("-q", "--quiet", is_flag=True, help="Show the answer only, not how it comes about.")
@as_json
def ask(
    question: str,
    collection: str | None,
    system: str | None,
    paper: str | None,
    k: int,
    effort: str | None,
    short: bool,
    where: "list[tuple[str, Scalar | Range]]",
    source: str | None,
    since: str | None,
    as_of: str,
    knowledge: tuple[str, ...],
    save: bool,
    quiet: bool,
    as_json: bool,
) -> None:
    """Answer a question, and cite the evidence.

    Standard error shows what each step asks, finds and concludes. The answer follows on standard output, with the
    passages that it cites. If the evidence does not hold the answer, the command says so and shows the best evidence.

    It needs a language model. KGRAG_CHAT__MODEL names the model, OPENAI_API_KEY is its key, and KGRAG_CHAT__BASE_URL is
    the server if it is not OpenAI's. Without a model the best passages are shown, with exit code 2. If the model fails
    before there is an answer, the exit code is 7.

    A page, table or section that the question names is looked up in the graph, without a model: its text is the answer.
    A question about its content is answered from it alone. `--system "gear(structure=false)"` turns this off.

    \b
    kgrag ask "Where was the designer of the Fram born?"
    kgrag ask "Where was the designer of the Fram born?" -c demo --system gear+hybrid --short
    kgrag ask "Where was the designer of the Fram born?" -c "ships, people" --system ircot+pathrank
    kgrag ask "Who designed the Fram?" --system "ircot(steps=2)+ppr" --where kind=ship
    kgrag ask "What does table 2 on page 7 of report.pdf say?"
    kgrag ask "Who designed the Fram?" --paper hipporag2
    kgrag ask "Who designed the Fram?" --knowledge wikidata --system gears
    kgrag ask "Who designed the Fram?" --effort low       fewer steps; prints its limits first
    kgrag ask "Who designed the Fram?" --save              then `kgrag list runs`, or the Cypher that it prints
    kgrag ask "Who designed the Fram?" --json | jq -r .text
    """
    from kgrag.agents.system import check_system
    from kgrag.retrieval.base import Query
    from kgrag.values.results import Filter

    settings, published = load_settings(), PROFILES.find(paper) if paper is not None else None
    if published is not None:
        settings = apply_profile(settings, published, quiet=quiet)
    if effort is not None:
        shared = {**settings.agents.get("answer", {}), "effort": effort}
        settings = settings.model_copy(update={"agents": {**settings.agents, "answer": shared}})
    named = system or (published.system if published is not None else None)
    if named is not None:
        check_system(named)
    query = Query(question, Filter(where, source, since, as_of), knowledge=knowledge)
    with connect(settings) as kg:
        searched = choose_collections(kg, collection, save=save)
        name = searched.name
        if kg.models.llm() is None and not _is_looked_up(searched, named, query):
            _show_evidence(searched, check_system(named or searched.usual), query, k, as_json=as_json)
        strategy = searched.system(named)
        stream = searched.ask_stream(
            question, system=strategy, short=short, k=k, filter=query.filter, knowledge=knowledge
        )
        from kgrag.cli.evidence import LiveTrace, print_answer
        from kgrag.wire import to_json

        calls, tokens = strategy.at_most()
        if calls and not quiet:
            note(f"{strategy.name} on {name}: {number(calls, 'call')} at most, some {tokens:,} tokens")
        with LiveTrace(quiet=quiet) as live:
            answer = stream.tell(live, text=live.streams)
        if not as_json:
            print_answer(answer)
        run, failure = None, None
        if save:
            try:
                run = kg[name].save(answer)
            except KgragError as error:  # the answer is shown all the same
                failure = error
    if as_json:
        print_json(to_json(answer, collection=name, run=run))
    if not quiet:
        note(f"{answer.system} on {name}: {answer.usage.text(cost=True)}, {answer.seconds:.1f} s")
    if run is not None:
        print_drawing(run)
    if failure is not None:
        raise failure
    if not answer.text:
        click.get_current_context().exit(ModelError.exit_code)


def _is_looked_up(searched: "LocalSearching", system: str | None, query: "Query") -> bool:
    """Return whether the answer is a page, table or section, for which no model is needed."""
    try:
        place = searched.system(system).look_up(query)
    except ConfigurationError:  # its retriever asks the model, too
        return False
    return place is not None and not place.content


def _show_evidence(searched: "LocalSearching", system: str, query: "Query", k: int, *, as_json: bool) -> NoReturn:
    """Explain how to configure a model, show what the system's retriever finds, and end."""
    from kgrag.agents.system import DEPTH, retriever_of
    from kgrag.cli.evidence import EVIDENCE, print_ranking
    from kgrag.models.chat import no_model
    from kgrag.values.events import Answer
    from kgrag.wire import to_json

    problem = no_model()
    message = f"{problem.message} {problem.remedy}"
    k = min(k, EVIDENCE) if k == DEPTH else k
    try:
        retriever = searched.retriever(retriever_of(system))
    except ConfigurationError:  # it asks the model, too
        retriever = searched.retriever()
    ranking = searched.search(query.text, k=k, retriever=retriever, filter=query.filter, knowledge=query.knowledge)
    if as_json:
        answer = Answer(query.text, "", False, system, ranking, problem=message)
        print_json(to_json(answer, collection=searched.name, run=None))
    note(message)
    if not as_json:
        note(f"The best passages of {searched.name} by {ranking.retriever}:" if len(ranking) else "Nothing was found.")
        print_ranking(ranking)
    click.get_current_context().exit(ConfigurationError.exit_code)
