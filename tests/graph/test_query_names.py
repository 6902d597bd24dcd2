"""Every query named in the code exists and gets its parameters, and every query is used; needs no server."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

import pytest

from kgrag.graph.queries import Query, catalogue

ROOT = Path(__file__).parents[2]
SAVED = "analyst/"
_FOLDERS = "|".join(sorted({name.partition("/")[0] for name in catalogue()}))
_NAME = re.compile(rf"(?:{_FOLDERS})/\w+")
_BEGINNING = re.compile(rf"(?:{_FOLDERS})/")
_FILE = re.compile(r"\bcypher/(\w+/\w+)\.cypher")
_DRAWN = re.compile(r'(?:drawn|load)\("(\w+)", \{([^}]*)\}')  # calls in the web pages
_COMMAND = re.compile(r"\bkgrag cypher ([a-z]\w+)")
_ADDRESSES = ("kgrag/client/remote.py", "jobs/")  # strings with this prefix are addresses of the REST API


@dataclass(frozen=True)
class Helper:
    """A function that takes the name of a query as an argument, and its parameters as keywords.

    `adds`: parameters that it supplies itself; `hands_on`: whether it passes others on.
    """

    place: int
    adds: frozenset[str] = frozenset()
    hands_on: bool = True


@dataclass(frozen=True)
class Use:
    """A call that runs a query. `given`: its named parameters; `more`: whether there may be others."""

    where: str
    query: str
    given: frozenset[str]
    more: bool
    helper: Helper

    def fault(self, queries: Mapping[str, Query]) -> str:
        """Return a description of the fault, or ""."""
        if self.query not in queries:
            return f"{self.where}: there is no query {self.query!r}"
        query = queries[self.query]
        takes = {p.name for p in query.parameters} | query.placeholders
        given = self.given | self.helper.adds
        if given == takes or (self.more and given < takes):
            return ""
        return f"{self.where}: {self.query} takes {sorted(takes)}, not {sorted(given)}"


def named(call: ast.Call) -> str:
    """Return the last part of the name of the called function."""
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def keywords(call: ast.Call) -> tuple[frozenset[str], bool]:
    """Return the keywords of a call, including `**{"class": ...}`, and whether there may be others."""
    given, more = set(), False
    for keyword in call.keywords:
        if keyword.arg is not None:
            given.add(keyword.arg)
        elif isinstance(keyword.value, ast.Dict):
            given |= {key.value for key in keyword.value.keys if isinstance(key, ast.Constant)}
        else:
            more = True
    return frozenset(given), more


def helpers(trees: Iterable[ast.AST]) -> dict[str, set[Helper]]:
    """Return functions that take a query, by name: `run` and `stream` of a Graph, `lookup`, and their callers."""
    found: dict[str, set[Helper]] = defaultdict(set, {name: {Helper(0)} for name in ("run", "stream", "lookup")})
    functions = []
    for function in (node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)):
        arguments = [a for a in (*function.args.posonlyargs, *function.args.args) if a.arg != "self"]
        places = {a.arg: n for n, a in enumerate(arguments) if getattr(a.annotation, "id", "") == "str"}
        calls = [node for node in ast.walk(function) if isinstance(node, ast.Call)]
        functions += [(function, places, calls)] if places else []
    while True:
        before = sum(map(len, found.values()))
        for function, places, calls in functions:
            for call in calls:
                for inner in found.get(named(call), set()).copy():
                    name = getattr(call.args[inner.place], "id", "") if len(call.args) > inner.place else ""
                    if name in places:
                        given, more = keywords(call)
                        found[function.name].add(Helper(places[name], given | inner.adds, more and inner.hands_on))
        if sum(map(len, found.values())) == before:
            return found


def uses(where: str, tree: ast.AST, known: Mapping[str, set[Helper]]) -> Iterator[list[Use]]:
    """Yield the queries that a source runs, each as every helper of that name would take it."""
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        function, arguments, partly = named(call), call.args, False
        if function == "partial" and call.args and isinstance(call.args[0], ast.Attribute):
            function, arguments, partly = call.args[0].attr, call.args[1:], True
        given, more = keywords(call)
        of_one: dict[str, list[Use]] = defaultdict(list)
        for helper in known.get(function, ()):
            for name in _texts(arguments[helper.place]) if len(arguments) > helper.place else ():
                use = Use(f"{where}:{call.lineno}", name, given, more or partly, helper)
                of_one[name].append(use)
        yield from of_one.values()


def _texts(node: ast.expr) -> list[str]:
    """Return a text that may name a query, or both texts of a conditional expression."""
    if isinstance(node, ast.IfExp):
        return _texts(node.body) + _texts(node.orelse)
    return [node.value] if isinstance(node, ast.Constant) and isinstance(node.value, str) and "/" in node.value else []


def texts(tree: ast.AST) -> Iterator[ast.Constant]:
    return (n for n in ast.walk(tree) if isinstance(n, ast.Constant) and isinstance(n.value, str))


def faults(sources: Mapping[str, ast.AST], known: Mapping[str, set[Helper]]) -> list[str]:
    """Return the faults of queries that sources run, and of other query names in them."""
    found = []
    for where, tree in sources.items():
        for ways in uses(where, tree, known):
            wrong = [use.fault(catalogue()) for use in ways]
            found += [] if "" in wrong else wrong[:1]
        found += [
            f"{where}:{text.lineno}: there is no query {name!r}"
            for text in texts(tree)
            for name in [*([text.value] if _NAME.fullmatch(text.value) else []), *_FILE.findall(text.value)]
            if name not in catalogue()
        ]
    return list(dict.fromkeys(found))


Sources = dict[str, ast.Module]
Helpers = dict[str, set[Helper]]


@pytest.fixture(scope="module")
def sources() -> Sources:
    """The modules of the project, parsed."""
    return {
        path.relative_to(ROOT).as_posix(): ast.parse(path.read_text(encoding="utf-8"))
        for folder in ("kgrag", "loaders")
        for path in sorted((ROOT / folder).rglob("*.py"))
    }


@pytest.fixture(scope="module")
def known(sources: Sources) -> Helpers:
    return helpers(sources.values())


def test_every_query_that_is_run_is_there_and_given_its_parameters(sources: Sources, known: Helpers) -> None:
    assert faults(sources, known) == []


def test_most_queries_are_seen_to_be_given_their_parameters(sources: Sources, known: Helpers) -> None:
    assert {"run", "stream", "rows", "row", "_scores", "_counts"} <= known.keys()
    seen = {use.query for where, tree in sources.items() for ways in uses(where, tree, known) for use in ways}
    names = {name for name in catalogue() if not name.startswith(SAVED)}
    assert len(names - seen) < 16, sorted(names - seen)  # named in a table or a list of pairs


def test_every_query_is_named_as_it_is_where_it_runs(sources: Sources) -> None:
    """A search for the name of a query finds its callers, so no name is assembled from parts."""
    told = {text.value for tree in sources.values() for text in texts(tree)}
    assert [name for name in catalogue() if not name.startswith(SAVED) and name not in told] == []
    nodes = [(where, node) for where, tree in sources.items() for node in ast.walk(tree)]
    joined = ((where, node) for where, node in nodes if isinstance(node, ast.JoinedStr))
    begun = {(where, part.value) for where, node in joined for part in texts(node) if _BEGINNING.match(part.value)}
    assert begun == {_ADDRESSES}
    run = (node for _, node in nodes if isinstance(node, ast.Call) and named(node) in ("run", "stream") and node.args)
    assert [ast.unparse(call) for call in run if isinstance(call.args[0], ast.JoinedStr)] == []


def test_every_saved_query_that_is_named_is_there_and_takes_what_it_is_given(sources: Sources) -> None:
    for where, tree in sources.items():
        told = {name for text in texts(tree) for name in _COMMAND.findall(text.value)}
        assert told <= {name.removeprefix(SAVED) for name in catalogue() if name.startswith(SAVED)}, where
    scripts = Path(str(files("kgrag.server.web"))).glob("static/*.js")
    drawn = [found for script in scripts for found in _DRAWN.findall(script.read_text(encoding="utf-8"))]
    assert len(drawn) >= 4
    for name, given in drawn:
        keys = {its.partition(":")[0].strip() for its in given.split(",") if its.strip()}
        assert keys <= {p.name for p in catalogue()[f"{SAVED}{name}"].parameters}, name


def test_documents_name_files_that_are_there() -> None:
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "cypher").rglob("*.cypher")]
    named = {name for page in pages for name in _FILE.findall(page.read_text(encoding="utf-8"))}
    assert named <= catalogue().keys()


@pytest.mark.parametrize(
    ("source", "fault"),
    [
        ("graph.run('inspect/ping')", ""), ("graph.run('inspect/pnig')", "there is no query"),
        ("graph.run('serach/ping')", "there is no query"),
        ("graph.run('inspect/gnip' if x else 'inspect/ping')", "there is no query"),
        ("for query in ('write/pagse',): tx.run(query, rows=r)", "there is no query"),
        ("catalogue()['look_up/rnu']", "there is no query"),
        ("'''Rows of `cypher/write/nothing.cypher`.'''", "there is no query"),
        ("reader.row('look_up/passages', ids=ids)", ""), ("reader.row('look_up/passages', id=ids)", "takes ['ids']"),
        ("reader.row('look_up/passages')", "takes ['ids']"), ("reader.row('look_up/passages', **given)", ""),
        ("reader.row('look_up/passages', id=ids, **given)", "takes ['ids']"),
        ("graph.run('inspect/ping', **{'ids': ids})", "takes []"), ("work.rows('look_up/texts', ids)", ""),
        ("partial(work.rows, 'look_up/texts')", ""),
        ("partial(work.rows, 'look_up/passages', limit=1)", "takes ['ids']"),
        ("graph.run('write/clear', collection=c)", "takes ['collection', 'label'"),
        ("graph.run('write/clear', collection=c, label='Word')", ""),
    ],
)  # fmt: skip
def test_what_is_found(source: str, fault: str, known: Helpers) -> None:
    found = faults({"x": ast.parse(source)}, known)
    assert len(found) == bool(fault)
    assert fault in "".join(found)
