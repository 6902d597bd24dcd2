"""One method declares a verb; every interface takes its options, their help and its result from there."""

import inspect
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import click
import pytest
from annotated_types import Interval
from click.testing import CliRunner
from letter_embedder import LetterEmbedder
from pydantic import BaseModel

from kgrag import AsyncCollection, Collection, KnowledgeGraph, RemoteKnowledgeGraph
from kgrag.cli import ENRICH, main
from kgrag.client.operations import MANY, Operation, Threads, bounds, operation
from kgrag.client.verbs import Verbs, operations
from kgrag.graph.jobs import Job
from kgrag.server.api.ask import AskRequest
from kgrag.server.api.search import SearchRequest
from kgrag.server.jobs import kinds
from kgrag.server.mcp import Tools
from kgrag.server.uploads import Uploads
from kgrag.values.documents import Document, Section
from kgrag.values.errors import ConfigurationError
from kgrag.values.events import Progress, no_progress

VERBS = operations()
every_verb = pytest.mark.parametrize("verb", VERBS.values(), ids=VERBS)


@dataclass(frozen=True)
class Counted:
    passages: int
    least: int


def count_long(
    self: Collection,
    *,
    least: Annotated[int, Interval(ge=1, le=50)] = 3,
    threads: Threads = 2,
    progress: Progress | None = None,
) -> Counted:
    """Count the passages of many words.

    Args:
        least: how many words.
        threads: passages at once.
        progress: receives (stage, done, total).

    Returns:
        Counts.
    """
    texts = [text for (text,) in self.cypher("MATCH (p:Passage {collection: $collection}) RETURN p.text AS t").values]
    return Counted(sum(len(text.split()) >= least for text in texts), least)


def _context(name: str) -> tuple[click.Command, click.Context]:
    group = main.get_command(click.Context(main), ENRICH)
    assert isinstance(group, click.Group)
    command = group.get_command(click.Context(group), name)
    assert command is not None
    return command, click.Context(command)


@every_verb
def test_a_command_has_each_option_of_its_verb_with_help_default_and_bounds(verb: Operation) -> None:
    command, context = _context(verb.name)
    options = {param.name: param for param in command.get_params(context) if isinstance(param, click.Option)}
    for parameter in verb.parameters:
        option = options[parameter.name]
        _, least, most = bounds(parameter.kind)
        assert (option.help or "").lower() == parameter.help.lower() != ""
        assert (option.get_default(context) or None) == (parameter.default or None)
        if isinstance(option.type, click.IntRange | click.FloatRange):
            assert (option.type.min, option.type.max or MANY) == (least, most)


@every_verb
def test_a_job_takes_what_a_client_of_a_server_may_set(verb: Operation) -> None:
    kind = kinds.KINDS[verb.name]
    assert list(kind.options.model_fields) == [each.name for each in verb.parameters if not each.is_owners]
    assert kind.options() == kind.options(**{each.name: each.default for each in verb.parameters if not each.is_owners})
    assert "threads" not in kind.options.model_fields


@every_verb
def test_the_other_clients_have_the_verb(verb: Operation) -> None:
    assert callable(getattr(AsyncCollection, verb.method.__name__))
    remote = RemoteKnowledgeGraph("http://localhost:9")["notes"]
    with pytest.raises(ConfigurationError, match="has no argument 'sise'"):
        getattr(remote, verb.method.__name__)(sise=3)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = remote.nothing
    assert verb.result.__module__.startswith("kgrag.indexing")


@pytest.mark.long
def test_a_new_verb_is_at_every_door_by_its_declaration_alone(
    kg: KnowledgeGraph, collection_name: str, neo4j_env: dict[str, str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(Verbs, "count_long", operation("long")(count_long), raising=False)
    texts = ("One two.", "One two three.", "One two three four five.")
    documents = [Document(str(number), (Section(text),)) for number, text in enumerate(texts)]
    kg.models._embedders["letters"] = LetterEmbedder()
    kg[collection_name].ingest(documents)
    verb = operations()["long"]
    assert verb.summary == "Count the passages of many words." and verb.result is Counted

    def shown(*arguments: str) -> Any:
        return CliRunner().invoke(main, [ENRICH, "long", collection_name, *arguments], env=neo4j_env)

    assert "long" in CliRunner().invoke(main, [ENRICH, "--help"]).stdout
    assert "How many words. [default: 3; 1<=x<=50]" in " ".join(shown("--help").stdout.split())
    assert json.loads(shown("--least", "5", "--json").stdout)["passages"] == 1
    assert shown().stdout == f"Collection {collection_name}: passages 2, least 3\n"
    assert shown("--least", "51").exit_code == 2

    monkeypatch.setitem(kinds.KINDS, "long", kinds.kind_of(verb))
    uploads = Uploads(tmp_path)
    with pytest.raises(ConfigurationError, match="least: Input should be less than or equal to 50"):
        kinds.checked_options(kg, uploads, "long", collection_name, {"least": 51})
    options = kinds.checked_options(kg, uploads, "long", collection_name, {"least": 5})
    job = Job("j", "long", collection_name, dict(options), "running")
    assert kinds.run(kg, uploads, job, no_progress).result == {"passages": 1, "least": 5}


def _defaults(call: Callable[..., Any]) -> dict[str, Any]:
    return {name: each.default for name, each in inspect.signature(call).parameters.items() if name != "self"}


@pytest.mark.parametrize(("method", "body", "tool"), [
    (Collection.search, SearchRequest, Tools.search),
    (Collection.ask_stream, AskRequest, Tools.ask),
])  # fmt: skip
def test_doors_of_questions_have_the_arguments_and_the_defaults_of_the_client(
    method: Callable[..., Any], body: type[BaseModel], tool: Callable[..., Any]
) -> None:
    own = {"question" if name == "query" else name: value for name, value in _defaults(method).items()}
    form = {name: field.get_default() for name, field in body.model_fields.items() if name != "save"}
    assert form.keys() == own.keys()
    assert form | {"filter": None} == own | {"question": form["question"]}
    told = _defaults(tool)
    assert all(told[name] == own[name] for name in told.keys() & own.keys() - {"question"})
