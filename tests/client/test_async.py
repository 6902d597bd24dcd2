"""The asynchronous clients: the same methods in threads, with cancellation."""

import asyncio

import pytest
from scripted import Scripted

from kgrag import AsyncKnowledgeGraph, KnowledgeGraph
from kgrag.settings import Settings
from kgrag.values.documents import Document, Section
from kgrag.values.errors import ConfigurationError
from kgrag.values.events import Answer

SHIPS = [Document(f"s{n}", (Section(f"Ship {n} was designed by Colin Archer."),), f"Ship {n}") for n in range(3)]


async def _attempts_after(task: "asyncio.Task[object]", scripted: Scripted) -> int:
    """Return the number of model calls until a cancelled task and its running calls have ended."""
    with pytest.raises(asyncio.CancelledError):
        await task
    attempts = -1
    while attempts != len(scripted.attempts):
        attempts = len(scripted.attempts)
        await asyncio.sleep(1)
    return attempts


def test_searches_run_side_by_side(graph_settings: Settings, collection_name: str) -> None:
    async def work() -> list[list[str]]:
        async with await AsyncKnowledgeGraph.connect(settings=graph_settings) as kg:
            ships = kg[collection_name]
            assert (await ships.ingest(SHIPS)).added == 3
            rankings = await asyncio.gather(*(ships.search(f"Ship {n}", k=1) for n in range(3)))
            assert (await ships.info()).counts["Document"] == 3
            await ships.delete()
            return [[hit.passage.title for hit in ranking] for ranking in rankings]

    assert asyncio.run(work()) == [["Ship 0"], ["Ship 1"], ["Ship 2"]]


def test_answers_stream_and_a_cancelled_task_ends_its_call(
    talking: KnowledgeGraph, scripted: Scripted, collection_name: str
) -> None:
    async def work() -> Answer:
        async with await AsyncKnowledgeGraph.connect(settings=talking.settings) as kg:
            ships = kg[collection_name]
            await ships.ingest(SHIPS)
            scripted.say("answer", "Colin Archer [1]")
            events = [event async for event in ships.ask_stream("Who designed Ship 1?", system="single+bm25")]
            answer = events[-1]
            assert isinstance(answer, Answer)
            scripted.say("think", "Thinking on.")
            scripted.delay(0.2)
            task = asyncio.create_task(ships.ask("Who designed Ship 1?", system="ircot(steps=20)+bm25"))
            await asyncio.sleep(0.5)
            task.cancel()
            assert await _attempts_after(task, scripted) < 15
            await ships.delete()
            return answer

    assert asyncio.run(work()).text == "Colin Archer [1]"


def test_several_collections_are_awaited_as_one(
    talking: KnowledgeGraph, collection_name: str, scripted: Scripted
) -> None:
    scripted.say("answer", "Colin Archer [1].")

    async def work() -> None:
        async with await AsyncKnowledgeGraph.connect(settings=talking.settings) as kg:
            other = f"{collection_name} too"
            await kg[collection_name].ingest(SHIPS[:1])
            await kg[other].ingest(SHIPS[1:])
            try:
                both = kg[collection_name, other]
                found = await both.search("Colin Archer", k=5)
                assert {hit.passage.collection for hit in found} == {collection_name, other}
                assert await (await kg.select(f"{collection_name}, {other}")).search("Colin Archer", k=5) == found
                answer = await both.ask("Who designed Ship 1?")
                assert (answer.text, answer.system) == ("Colin Archer [1].", "single+pathrank")
                assert (await both.system()).name == "single+pathrank"
            finally:
                await kg[other].delete()

    asyncio.run(work())


def test_collections_are_named_one_by_one(graph_settings: Settings, collection_name: str) -> None:
    async def work() -> None:
        async with await AsyncKnowledgeGraph.connect(settings=graph_settings) as kg:
            await kg[collection_name].ingest(SHIPS)
            assert collection_name in [name async for name in kg]
            with pytest.raises(TypeError):
                _ = collection_name in kg  # type: ignore[operator]
            with pytest.raises(TypeError):
                list(kg)  # type: ignore[arg-type]
            assert kg.sync.models.llm() is None
            with pytest.raises(ConfigurationError):
                await kg.language_model()
            assert (await kg.embedder()).name == graph_settings.embedder

    asyncio.run(work())


def test_many_questions_are_answered_as_they_come_until_the_loop_is_left(
    talking: KnowledgeGraph, scripted: Scripted, collection_name: str
) -> None:
    questions = [f"Who designed Ship {n}?" for n in range(3)]

    async def work() -> None:
        async with await AsyncKnowledgeGraph.connect(settings=talking.settings) as kg:
            ships = kg[collection_name]
            await ships.ingest(SHIPS)
            scripted.say("answer", "Colin Archer [1]")
            answers = {question: answer async for question, answer in ships.ask_many(questions, system="single+bm25")}
            assert answers.keys() == set(questions)
            assert {answer.text for answer in answers.values() if isinstance(answer, Answer)} == {"Colin Archer [1]"}
            scripted.say("think", "Thinking on.")
            scripted.delay(0.2)
            asked = ships.ask_many(questions * 9, system="ircot(steps=20)+bm25", threads=2)
            first = asyncio.create_task(anext(asked))
            await asyncio.sleep(0.5)
            first.cancel()
            assert await _attempts_after(first, scripted) < 100

    asyncio.run(work())
