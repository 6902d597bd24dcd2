"""Conversations: asked, followed, continued, kept over a restart, visible to allowed users, and rated."""

import json
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import pytest
from scripted import Scripted
from served import Served

from kgrag import KnowledgeGraph
from kgrag.server.conversations import Conversations, Turn
from kgrag.server.failures import for_reader
from kgrag.values.documents import Document, Section
from kgrag.values.errors import ConfigurationError, NotFoundError
from kgrag.values.events import Answer
from kgrag.values.results import Ranking

_SHIPS, _LETTERS = "ships in talks", "letters in talks"
_QUESTION = "Where was the captain of the Fjord Queen born?"
_TEXTS = {
    "Fjord Queen": "The Fjord Queen was a steamer. Her captain was Ole Brandvik.",
    "Ole Brandvik": "He was a captain for years. Ole Brandvik was born in Nordvika. His ship was sold later.",
}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def asked_of(asking: KnowledgeGraph, fill: Callable[..., str]) -> KnowledgeGraph:
    fill(_SHIPS, [Document(title, (Section(text),), title) for title, text in _TEXTS.items()])
    fill(_LETTERS, [Document("Kari", (Section("Kari Aune keeps a secret in Larvik."),), "Kari")])
    return asking


@pytest.fixture(scope="module")
def served(asked_of: KnowledgeGraph, home: Path) -> Iterator[Served]:
    with Served(asked_of, home, concurrency=1, waiting=8) as server:
        server.key("anna", "read", _SHIPS)
        server.key("bela", "read", _SHIPS, _LETTERS)
        server.key("kari", "read", _LETTERS)
        server.key("ruler", "admin")
        yield server


@pytest.fixture
def anna(served: Served) -> Iterator[httpx.Client]:
    with served.client("anna") as its:
        yield its


def _ask(client: httpx.Client, question: str = _QUESTION, **more: Any) -> dict[str, Any]:
    asked = {"collections": [_SHIPS], "question": question, "system": "single+pathrank", **more}
    reply = client.post("/api/v1/turns", json=asked)
    assert reply.status_code == 202, reply.text
    return dict(reply.json())


def _follow(client: httpx.Client, turn: dict[str, Any]) -> list[tuple[str, Any]]:
    """Yield all events until the turn has ended."""
    with client.stream("GET", f"/api/v1/turns/{turn['id']}/events") as stream:
        blocks = [block.split("\n") for block in stream.read().decode().strip().split("\n\n")]
    return [(lines[0].removeprefix("event: "), json.loads(lines[1].removeprefix("data: "))) for lines in blocks]


def _shown(client: httpx.Client, turn: dict[str, Any]) -> dict[str, Any]:
    return dict(client.get(f"/api/v1/turns/{turn['id']}").json())


def test_a_question_is_followed_and_kept(anna: httpx.Client, scripted: Scripted) -> None:
    scripted.say("answer", "In **Nordvika** [2], says [9]. <b>x</b> ![p](https://evil.example/p.png)")
    scripted.delay(0.5)  # so that the test follows from the beginning
    turn = _ask(anna)
    assert (turn["state"], "owner" in turn) == ("waiting", False)
    events = _follow(anna, turn)
    scripted.delay(0)
    names = [name for name, _ in events]
    assert names[0] == "begun" and names[-1] == "end" and {"step", "text", "spent"} <= set(names)
    assert events[-1][1] == {"state": "done"}
    shown = _shown(anna, turn)
    assert shown["turn"]["state"] == "done" and shown["turn"]["tokens"] > 0 and shown["mine"]
    assert shown["answer"]["text"].startswith("In **Nordvika**")
    html = shown["answer"]["html"]
    assert "<strong>Nordvika</strong>" in html and "<b>" not in html and "<img" not in html
    source = shown["sources"][0]
    assert (source["number"], source["passage"]["title"]) == (2, "Ole Brandvik")
    start, end = (int(html.partition(f'data-{name}="')[2].partition('"')[0]) for name in ("start", "end"))
    assert source["passage"]["text"][start:end] == "Ole Brandvik was born in Nordvika."
    assert [(hop["title"], hop["name"]) for hop in source["hops"]] == [
        ("Fjord Queen", "Ole Brandvik"),
        ("Ole Brandvik", ""),
    ]
    assert source["hops"][0]["sentence"] == "Her captain was Ole Brandvik."
    first = source["hops"][0]
    assert first["sentence"][first["start"] : first["end"]] == "Ole Brandvik"
    paid = len(scripted.calls)
    assert [name for name, _ in _follow(anna, turn)] == ["end"]
    assert anna.get(f"/api/v1/turns/{turn['id']}/result").json()["result"]["text"] == shown["answer"]["text"]
    drawn = anna.get(f"/api/v1/turns/{turn['id']}/drawing").json()
    assert {"Question", "Entity", "Passage"} == {node["label"] for node in drawn["nodes"]}
    assert len(scripted.calls) == paid, "what is kept is not asked again"


def test_a_follow_up_is_understood_from_what_was_said(anna: httpx.Client, scripted: Scripted) -> None:
    scripted.say("answer", "In Nordvika [2].")
    scripted.say("follow-up", "Which ship did Ole Brandvik command?")
    first = _ask(anna)
    _follow(anna, first)
    scripted.delay(0.5)  # so that the test follows from the beginning
    second = _ask(anna, "And which ship was his?", conversation=first["conversation"])
    events = _follow(anna, second)
    scripted.delay(0)
    assert ("asked", {"question": "Which ship did Ole Brandvik command?"}) in events
    assert _shown(anna, second)["turn"]["asked"] == "Which ship did Ole Brandvik command?"
    talk = anna.get(f"/api/v1/conversations/{first['conversation']}").json()
    assert [its["turn"]["question"] for its in talk["turns"]] == [_QUESTION, "And which ship was his?"]
    listed = anna.get("/api/v1/conversations").json()["conversations"]
    assert next(its for its in listed if its["id"] == first["conversation"])["turns"] == 2

    third = _ask(anna, "Which harbour was his?", conversation=first["conversation"], instead=second["id"])
    _follow(anna, third)
    talk = anna.get(f"/api/v1/conversations/{first['conversation']}").json()
    assert [its["turn"]["question"] for its in talk["turns"]] == [_QUESTION, "Which harbour was his?"]
    kept = anna.get(f"/api/v1/conversations/{first['conversation']}", params={"turn": second["id"]}).json()["turns"]
    assert [its["turn"]["id"] for its in kept] == [first["id"], second["id"]], "its address is still good"
    assert [its["versions"] for its in kept] == [[first["id"]], [second["id"], third["id"]]]


def test_without_a_system_or_with_a_retriever(anna: httpx.Client, scripted: Scripted) -> None:
    usual = _ask(anna, system=None)
    assert usual["system"] == "gear+pathrank"
    anna.post(f"/api/v1/turns/{usual['id']}/stop")
    _follow(anna, usual)
    turn = _ask(anna, system=None, retriever="bm25")
    assert [name for name, _ in _follow(anna, turn)][-1] == "end"
    shown = _shown(anna, turn)
    assert (shown["answer"], shown["turn"]["state"], shown["turn"]["retriever"]) == (None, "done", "bm25")
    assert shown["sources"][0]["snippet"]["marks"]
    for wrong in ({"retriever": "no such"}, {"system": "single+no-such"}, {"collections": []}, {"question": " "}):
        asked = {"collections": [_SHIPS], "question": _QUESTION, **wrong}
        assert anna.post("/api/v1/turns", json=asked).status_code in (400, 404, 422), wrong


def test_it_waits_in_line_is_told_where_and_can_be_stopped(anna: httpx.Client, scripted: Scripted) -> None:
    scripted.say("answer", "In Nordvika [2].")
    scripted.delay(2)
    try:
        first = _ask(anna)
        while _shown(anna, first)["turn"]["state"] == "waiting":  # for the stopped turn before it, which still runs
            time.sleep(0.05)
        turns = [first, _ask(anna), _ask(anna)]
        assert anna.post(f"/api/v1/turns/{turns[1]['id']}/stop").is_success
        assert _follow(anna, turns[1])[-1] == ("end", {"state": "stopped"})
        events = _follow(anna, turns[2])
        assert [form["before"] for name, form in events if name == "waiting"] == [2, 1]
        assert events[-1] == ("end", {"state": "done"})
    finally:
        scripted.delay(0)
    assert _shown(anna, turns[0])["turn"]["state"] == "done"


def test_it_goes_on_when_its_page_is_closed(served: Served, anna: httpx.Client, scripted: Scripted) -> None:
    scripted.say("answer", "In Nordvika [2].")
    scripted.delay(1.0)
    try:
        turn = _ask(anna)
        with served.client("anna", timeout=httpx.Timeout(30, read=0.3)) as leaving, pytest.raises(httpx.ReadTimeout):
            _follow(leaving, turn)
    finally:
        scripted.delay(0)
    assert _follow(anna, turn)[-1] == ("end", {"state": "done"})
    assert _shown(anna, turn)["answer"]["text"] == "In Nordvika [2]."


def test_what_is_written_is_kept_meanwhile_and_told_while_the_key_holds(
    served: Served, anna: httpx.Client, home: Path, scripted: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kgrag.server.asking._SAVED", 0.1)
    scripted.say("answer", "In Nordvika [2]. " * 200)
    scripted.drip(0.02)
    served.key("guest", "read", _SHIPS)
    with served.client("guest") as guest:
        turn = _ask(guest)
        with guest.stream("GET", f"/api/v1/turns/{turn['id']}/events") as stream:
            parts = stream.iter_text()
            while "Nordvika" not in next(parts):
                pass
            served.keys.remove("guest")
            rest = "".join(parts)
    assert "event: end" not in rest and rest.count("event: text") <= 1
    while (result := Conversations(home / "conversations.sqlite3", 99).result(turn["id"])) is None:
        time.sleep(0.05)
    scripted.drip(0)
    assert isinstance(result, Answer) and 0 < len(result.text) < 3000


def test_others_read_what_they_may_and_change_nothing(served: Served, anna: httpx.Client, scripted: Scripted) -> None:
    scripted.say("answer", "In Nordvika [2].")
    turn = _ask(anna)
    _follow(anna, turn)
    talk = f"/api/v1/conversations/{turn['conversation']}"
    with served.client("bela") as bela, served.client("kari") as kari:
        there = bela.get(talk).json()
        assert (there["mine"], there["turns"][0]["answer"]["text"]) == (False, "In Nordvika [2].")
        assert bela.get("/api/v1/conversations").json()["conversations"] == []
        for method, path, body in (
            ("DELETE", talk, None),
            ("POST", f"/api/v1/turns/{turn['id']}/stop", None),
            ("POST", f"/api/v1/turns/{turn['id']}/opinion", {"good": True}),
            ("POST", "/api/v1/turns", {"collections": [_SHIPS], "question": "x", "conversation": turn["conversation"]}),
        ):
            assert bela.request(method, path, json=body).status_code == 403, path
        for path in (talk, *(f"/api/v1/turns/{turn['id']}{end}" for end in ("", "/events", "/result", "/drawing"))):
            assert kari.get(path).status_code == 404, path
        assert kari.get("/api/v1/opinions").status_code == 403
    assert anna.get(talk).json()["turns"][0]["turn"]["good"] is None
    assert anna.delete(talk).json() == {"id": turn["conversation"]}
    assert anna.get(talk).status_code == 404


def test_opinions_are_kept_in_the_graph(
    served: Served, anna: httpx.Client, scripted: Scripted, kg: KnowledgeGraph
) -> None:
    scripted.say("answer", "In Nordvika [2].")
    turn = _ask(anna)
    _follow(anna, turn)
    given = anna.post(
        f"/api/v1/turns/{turn['id']}/opinion", json={"good": False, "remark": "It says too little."}
    ).json()
    again = anna.post(f"/api/v1/turns/{turn['id']}/opinion", json={"good": True}).json()
    assert (given["good"], again["good"], given["run"]) == (False, True, again["run"])
    kept = {run.id: run for run in kg[_SHIPS].runs()}[given["run"]]
    assert (kept.good, kept.remark, kept.answer) == (True, "", "In Nordvika [2].")
    with served.client("ruler") as ruler:
        said = ruler.get("/api/v1/opinions").json()["opinions"]
        assert (said[0]["id"], said[0]["good"], said[0]["question"]) == (turn["id"], True, _QUESTION)
        spent = {its["name"]: its for its in ruler.get("/api/v1/spending").json()["spending"]}
        assert spent["anna"]["questions"] >= 1 and spent["anna"]["tokens"] > 0
    kg.delete_runs([given["run"]])
    once_more = anna.post(f"/api/v1/turns/{turn['id']}/opinion", json={"good": False}).json()
    assert once_more["run"] != given["run"]
    kg.delete_runs([once_more["run"]])


@pytest.mark.parametrize("change", ["deleted", "replaced", "collection"])
def test_it_can_be_read_whatever_becomes_of_its_documents(
    served: Served, scripted: Scripted, kg: KnowledgeGraph, collection_name: str, change: str
) -> None:
    """An answer whose trail ends in a deleted document stays as it was, and so does the search that found it."""
    scripted.say("answer", "In **Nordvika** [2].")
    scripted.say("follow-up", _QUESTION)
    documents = [Document(title, (Section(text),), title) for title, text in _TEXTS.items()]
    kg[collection_name].ingest(documents)
    with served.client("ruler") as ruler:
        turn = _ask(ruler, collections=[collection_name])
        _follow(ruler, turn)
        search = _ask(
            ruler, collections=[collection_name], system=None, retriever="pathrank", conversation=turn["conversation"]
        )
        _follow(ruler, search)
        talk = f"/api/v1/conversations/{turn['conversation']}"
        before = ruler.get(talk).json()["turns"]
        assert [len(its["hops"]) for its in before] == [2, 2]
        if change == "deleted":
            kg[collection_name].delete(["Ole Brandvik"])
        elif change == "replaced":
            kg[collection_name].ingest(
                [Document("Ole Brandvik", (Section("Ole Brandvik was a baker."),), "Ole Brandvik")]
            )
        else:
            kg[collection_name].delete()
        after = ruler.get(talk, timeout=20)
        assert after.status_code == 200, after.text
        answer, found = after.json()["turns"]
        assert answer["answer"]["text"] == "In **Nordvika** [2]."
        assert [source["gone"] for source in answer["sources"] if source["number"]] == [True]
        assert answer["hops"] == found["hops"] == []
        assert "born in Nordvika" not in after.text
        for end in ("", "/result", "/drawing"):
            reply = ruler.get(f"/api/v1/turns/{turn['id']}{end}")
            assert reply.status_code == 200 and "born in Nordvika" not in reply.text, end


@pytest.mark.parametrize(
    ("end", "kind"), [("stopped", None), ("deadline", "DeadlineError"), ("connection", "ModelError")]
)
def test_the_text_of_a_cut_answer_is_kept_and_checked(
    asked_of: KnowledgeGraph, scripted: Scripted, tmp_path: Path, end: str, kind: str | None
) -> None:
    scripted.say("answer", "He was born in Nordvika [2]. He died in Bergen [2]. " + "He was a captain [2]. " * 200)
    scripted.drip(0.02)
    if end == "connection":
        scripted.fail("cut", "400:The model is on holiday.", task="answer")
    seconds = 2.5 if end == "deadline" else 120
    with Served(asked_of, tmp_path, deadline=seconds) as server, server.client() as client:
        turn = _ask(client)
        with client.stream("GET", f"/api/v1/turns/{turn['id']}/events") as stream:
            heard = ""
            for part in stream.iter_text():
                heard += part
                if "captain" in heard.partition("Bergen")[2] and end == "stopped":
                    break
        client.post(f"/api/v1/turns/{turn['id']}/stop")
        _follow(client, turn)
        shown = _shown(client, turn)
    scripted.drip(0)
    names = [line.removeprefix("event: ") for line in heard.splitlines() if line.startswith("event: ")]
    assert names.index("found") < names.index("sources") < names.index("text")
    assert shown["turn"]["state"] == ("stopped" if kind is None else "failed")
    assert (shown["turn"]["error"] or {"kind": None})["kind"] == kind
    assert shown["answer"]["usage"].startswith("1 call, ") and {source["read"] for source in shown["sources"]} == {True}
    text = shown["answer"]["text"]
    if end == "connection":
        assert text and "this reply is cut off".startswith(text) and shown["answer"]["doubt"] == ""
        return
    assert 'class="cite"' in heard.replace('\\"', '"'), "its citations can be opened while it is written"
    assert text.startswith("He was born in Nordvika [2].") and len(text) < 4000
    assert shown["answer"]["doubt"] == "Not supported by the passages: “He died in Bergen.”."
    assert shown["sources"][0]["number"] == 2 and shown["sources"][0]["support"][1] > 0 and shown["hops"]


def test_a_model_that_fails_leaves_what_was_found(served: Served, anna: httpx.Client, scripted: Scripted) -> None:
    scripted.fail(*["500:no"] * 3, task="answer")
    scripted.delay(0.5)  # so that the test follows from the beginning
    turn = _ask(anna)
    events = _follow(anna, turn)
    scripted.delay(0)
    assert [form["tries"] for name, form in events if name == "again"] == [1, 2, 3]
    scripted.fail(*["401"], task="answer")
    turn = _ask(anna)
    _follow(anna, turn)
    for name in ("anna", "ruler"):
        with served.client(name) as client:
            reply = client.get(f"/api/v1/turns/{turn['id']}")
            shown = reply.json()
            assert {source["passage"]["title"] for source in shown["sources"]} == set(_TEXTS)
            assert shown["turn"]["error"]["error"]
            plain = "KGRAG_" not in reply.text and "OPENAI_API_KEY" not in reply.text and "http://" not in reply.text
            assert plain is (name == "anna"), reply.text
            missing = client.get(f"/api/v1/collections/{_SHIPS}/passage", params={"id": "none"}).json()
            assert ("`kgrag" in missing["remedy"]) is (name == "ruler")


def test_a_conversation_is_renamed(served: Served, anna: httpx.Client, scripted: Scripted) -> None:
    scripted.say("answer", "In Nordvika [2].")
    turn = _ask(anna)
    _follow(anna, turn)
    talk = f"/api/v1/conversations/{turn['conversation']}"
    with served.client("bela") as bela:
        assert bela.patch(talk, json={"title": "mine"}).status_code == 403
    assert anna.patch(talk, json={"title": "  The   captain "}).json()["title"] == "The captain"
    titles = {its["id"]: its["title"] for its in anna.get("/api/v1/conversations").json()["conversations"]}
    assert titles[turn["conversation"]] == "The captain"
    assert anna.patch(talk, json={"title": ""}).is_success
    titles = {its["id"]: its["title"] for its in anna.get("/api/v1/conversations").json()["conversations"]}
    assert titles[turn["conversation"]] == _QUESTION
    anna.delete(talk)


_STEPS = [
    "kgrag.server.conversations.Conversations.result", "kgrag.server.api.conversations.result_form",
    "kgrag.server.asking.step_form", "kgrag.server.asking.sources_form", "kgrag.server.asking.markdown",
    "kgrag.agents.strategy.answer", "kgrag.agents.loop.reciprocal_rank_fusion",
    "kgrag.retrieval.pathrank.PathRank.rank", "kgrag.models.openai_chat.OpenAIChat.chat",
    "kgrag.server.api.conversations.still_held",
]  # fmt: skip


@pytest.mark.parametrize("error", [StopIteration, ZeroDivisionError, RecursionError])
@pytest.mark.parametrize("step", _STEPS)
def test_no_request_is_left_without_a_reply(
    served: Served, scripted: Scripted, monkeypatch: pytest.MonkeyPatch, step: str, error: type[Exception]
) -> None:
    scripted.say("answer", "In Nordvika [2].")

    def broken(*_: object, **__: object) -> object:
        raise error("planted")

    with served.client("anna", timeout=20) as anna:
        monkeypatch.setattr(step, broken)
        turn = _ask(anna)
        _follow(anna, turn)
        for path in (f"turns/{turn['id']}", f"conversations/{turn['conversation']}"):
            assert anna.get(f"/api/v1/{path}").status_code in (200, 500)
        monkeypatch.undo()
        assert anna.get(f"/api/v1/conversations/{turn['conversation']}").status_code == 200
        assert _shown(anna, turn)["turn"]["state"] in ("done", "failed")


def test_it_is_kept_over_a_restart(asked_of: KnowledgeGraph, scripted: Scripted, tmp_path: Path) -> None:
    scripted.say("answer", "In Nordvika [2].")
    with Served(asked_of, tmp_path) as first, first.client() as client:
        done = _ask(client)
        _follow(client, done)
        scripted.delay(3)
        under_way = _ask(client)
        while len(scripted.attempts) < 2:
            time.sleep(0.01)
    scripted.delay(0)
    with Served(asked_of, tmp_path) as second, second.client() as client:
        assert _shown(client, done)["answer"]["text"] == "In Nordvika [2]."
        assert _shown(client, under_way)["turn"]["state"] == "stopped"
        assert len(scripted.attempts) == 2
    assert (tmp_path / "conversations.sqlite3").stat().st_mode & 0o777 == 0o600


def _turn(id: str, conversation: str = "c", owner: str = "a") -> Turn:
    return Turn(id, conversation, owner, ("ships",), f"question {id}", "single", "", f"2026-01-01T00:00:{int(id):02}")


def test_the_oldest_go_and_lists_are_of_their_owner(tmp_path: Path) -> None:
    kept = Conversations(tmp_path / "kept" / "talks.sqlite3", 3)
    assert kept.headings("a", 9) == [] and kept.spent() == [] and not (tmp_path / "kept").exists()
    for number in range(1, 5):
        kept.add(_turn(str(number), conversation="c" if number < 4 else "d", owner="a" if number < 4 else "b"))
    with pytest.raises(NotFoundError):
        kept.turn("1")
    assert [turn.id for turn in kept.turns("c")] == ["2", "3"]
    assert [(its.id, its.title, its.turns) for its in kept.headings("a", 9)] == [("c", "question 2", 2)]
    answer = Answer("question 2", "Yes", True, "single", Ranking("question 2", "bm25"))
    kept.change("2", answer, state="done", tokens=7, cost=0.5)
    assert kept.result("2") == answer and kept.turn("2").tokens == 7
    assert sorted(kept.spent()) == [("a", 2, 7, 0.5), ("b", 1, 0, 0.0)]
    kept.add(_turn("5"), instead="3")
    assert [turn.id for turn in kept.turns("c")] == ["5"], "2 was the oldest, 3 is replaced"

    kept = Conversations(tmp_path / "versions.sqlite3", 99)
    for number in (1, 2, 3):
        kept.add(_turn(str(number)))
    kept.add(_turn("4"), instead="1")
    kept.add(_turn("5"))
    assert [turn.id for turn in kept.turns("c")] == ["4", "5"]
    assert [turn.id for turn in kept.turns("c", "2")] == ["1", "2", "3"], "nothing of it was deleted"
    kept.show(kept.turn("1"))
    kept.add(_turn("6"), instead="3")
    assert [turn.id for turn in kept.turns("c")] == ["1", "2", "6"]
    first, second = ["1", "4"], ["3", "6"]
    assert kept.versions("c") == {"1": first, "2": ["2"], "3": second, "4": first, "5": ["5"], "6": second}
    assert not kept.remove("c", "b") and kept.remove("c", "a")


def test_conversations_are_found_by_pages_and_by_all_that_is_said_in_them(tmp_path: Path) -> None:
    kept = Conversations(tmp_path / "talks.sqlite3", 4)
    for number in range(1, 5):
        kept.add(_turn(str(number), conversation=f"c{number}"))
    kept.add(_turn("5", conversation="c9", owner="b"))
    kept.change("3", Answer("question 3", "Born in ÅLESUND, 1861.", True, "single", Ranking("question 3", "bm25")))
    kept.rename("c4", "a", "Ships of " + "Ålesund" * 99)

    def found(search: str = "", before: str = "", most: int = 9) -> list[str]:
        return [its.id for its in kept.headings("a", most, search, before)]

    assert found(most=2) == ["c4", "c3"] and found(most=2, before=kept.headings("a", 2)[-1].last) == ["c2"]
    assert found("ålesund") == ["c4", "c3"] and found("ålesund born 3") == ["c3"] and found("question 2") == ["c2"]
    assert found("ålesund born ship") == [] == found("%") and len(kept.headings("a", 1)[0].title) == 200
    kept.remove("c3", "a")
    with closing(sqlite3.connect(tmp_path / "talks.sqlite3")) as file:
        assert file.execute("SELECT count(*) FROM texts").fetchone() == (0,), "what was said goes with its conversation"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("`kgrag search … --json` shows the ids of passages.", "Ask the operator of this server."),
        ("Give it more: deadline=SECONDS.", "Ask the operator of this server."),
        ("No triples (kgrag enrich extract).", "No triples."),
        ("cannot read '/srv/kgrag/uploads/ab/bad4.png'", "Cannot read 'bad4.png'"),
        ("HTTP 401, Incorrect API key provided: sk-abcd****wxyz.", "HTTP 401, Incorrect API key provided: …."),
        ("1/2 of 3 and/or 4 km/h", "1/2 of 3 and/or 4 km/h"),
    ],
)
def test_a_reader_is_told_no_commands_folders_and_keys(text: str, told: str) -> None:
    assert for_reader(text) == told


def test_a_damaged_file_says_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "talks.sqlite3"
    path.write_text("this is none")
    with pytest.raises(ConfigurationError, match=r"talks\.sqlite3"):
        Conversations(path, 3).headings("a", 9)
    path.unlink()
    kept = Conversations(path, 3)
    kept.add(_turn("1"))
    with closing(sqlite3.connect(path)) as file, file:
        file.execute("UPDATE turns SET result = ?", (b"no answer",))
    assert kept.result("1") is None and kept.turn("1").question == "question 1"
