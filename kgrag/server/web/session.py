"""What one open page works with: the objects of the server, held to what its visitor's key allows now."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from datetime import datetime
from pathlib import Path
from typing import Any

from fastapi import Request

from kgrag.client.aio import AsyncCollection, in_thread
from kgrag.drawing import Drawing
from kgrag.evaluation.kept import Kept, kept
from kgrag.graph.collections import DEFAULT_COLLECTION, KNOWLEDGE
from kgrag.graph.collections import Collection as Record
from kgrag.graph.runs import Run
from kgrag.retrieval.base import Query
from kgrag.retrieval.registry import DEFAULT_RETRIEVER
from kgrag.server.allowed_parts import check_asked_retriever, check_asked_system
from kgrag.server.api.drawings import around
from kgrag.server.entrance import access_of
from kgrag.server.jobs import Job
from kgrag.server.keys import Access, Role
from kgrag.server.pictures import Picture, file_of
from kgrag.server.route_context import Serving
from kgrag.values.errors import AccessError, NotFoundError
from kgrag.values.events import Answer, Event
from kgrag.values.results import CollectionInfo, Passage, Ranking
from kgrag.values.rows import Rows


class Session:
    """One visitor's open page. Every method asks first whether the key is still there and allows what it does.

    Methods raise AccessError and NotFoundError as `Access.check` does; those that wait are awaited.
    """

    def __init__(self, serving: Serving, request: Request) -> None:
        self._serving = serving
        self._access = access_of(request)

    @property
    def access(self) -> Access:
        """What the visitor may do now. Raises AccessError once the key was removed."""
        if not self._serving.keys.holds(self._access):
            raise AccessError("The key of this page is no longer known here.", "Log in with another one.")
        return self._access

    @property
    def has_model(self) -> bool:
        """Whether a language model is configured, which answers."""
        return self._serving.kg.settings.chat.model is not None

    @property
    def at_once(self) -> tuple[int, int]:
        """How many files, and how many bytes of them, may come in one request, with room for what is around them."""
        options = self._serving.options
        return options.upload_files, options.upload_mb * 900_000

    def collection(self, name: str, role: Role = "read") -> AsyncCollection:
        """A collection by its name, to be used in that role."""
        self.access.check(role, name)
        return AsyncCollection(self._serving.kg[name])

    async def collections(self) -> list[CollectionInfo]:
        """Those that the visitor may see, with their counts."""
        access = self.access
        return [info for info in await in_thread(self._serving.kg.collections) if access.sees(info.name)]

    async def records(self) -> list[Record]:
        """The same without counts, which take long where much is held."""
        access = self.access
        return [found for found in await in_thread(self._serving.kg.records) if access.sees(found.name)]

    async def choose(self, name: str) -> tuple[str, list[str]]:
        """The collection of documents that is meant, and the names of all. Raises NotFoundError where there is none."""
        names = [found.name for found in await self.records() if found.kind != KNOWLEDGE]
        if name and name not in names:
            self.access.check("read", name)
            raise NotFoundError(f"There is no collection {name!r} of documents.", "Choose another one.")
        if not names:
            raise NotFoundError("There is no collection of documents yet.", "Upload files: they make one.")
        return name or (DEFAULT_COLLECTION if DEFAULT_COLLECTION in names else names[0]), names

    async def search(self, question: str, collection: str, retriever: str = DEFAULT_RETRIEVER) -> Ranking:
        """The best passages for a question, within the limits of a request. Raises BusyError, DeadlineError."""
        self.access.check("read", collection)
        chosen, checked = self._serving.kg[collection], check_asked_retriever(retriever)
        async with aclosing(
            await self._serving.workers.stream(lambda _: chosen.search(question, retriever=checked))
        ) as found:
            ranking: Ranking = await anext(found)
        return ranking

    async def ask(self, question: str, collection: str, system: str) -> AsyncGenerator[Event | Answer]:
        """The events of a question as they happen, and last its answer, within the limits of a request.

        Closing the generator ends the work. Raises BusyError, DeadlineError.
        """
        self.access.check("read", collection)
        chosen = self._serving.kg[collection]
        query = Query(question)
        check_asked_system(system)
        async with aclosing(
            await self._serving.asks.stream(lambda hear: chosen.system(system).ask(query, stream=True, listener=hear))
        ) as heard:
            async for told in heard:
                if isinstance(told, Answer) and not told.problem:
                    await in_thread(self._serving.answers.put, told, *self._asked(question, collection, system))
                yield told

    async def answered(self, question: str, collection: str, system: str) -> tuple[Answer, datetime] | None:
        """What this visitor was answered to the same before, and when.

        None if nothing is kept, or what it rests on is no longer held as it was.
        """
        self.access.check("read", collection)
        chosen, asked = self._serving.kg[collection], self._asked(question, collection, system)

        def kept() -> tuple[Answer, datetime] | None:
            found = self._serving.answers.get(*asked)
            if found is None:
                return None
            passages = [hit.passage for hit in found[0].ranking] + [cited.passage for cited in found[0].citations]
            held = chosen.context.reader.passages([passage.id for passage in passages])
            return found if all(p.id in held and held[p.id].text == p.text for p in passages) else None

        return await in_thread(kept)

    def _asked(self, question: str, collection: str, system: str) -> tuple[str, ...]:
        return self._access.key, collection, system, self._serving.kg.settings.chat.model or "", question

    async def neighbours(self, passage: Passage, collection: str, limit: int = 10) -> list[dict[str, Any]]:
        """The edges around a passage of a collection, as `KnowledgeGraph.neighbourhood` gives them."""
        self.access.check("read", collection)
        return await in_thread(self._serving.kg.neighbourhood, passage.id, limit)

    async def around(self, passage: str, collection: str, limit: int = 10) -> Drawing:
        """A passage by its id, and what is beside it, to be drawn."""
        found = await self.collection(collection).passage(passage)
        return await in_thread(around, self._serving.kg, found, limit)

    async def saved_query(self, name: str, arguments: Mapping[str, Any], collection: str = "") -> Rows:
        """The rows of a saved query on a collection, or on all where it is of none."""
        if not collection:
            self.access.check_all()
            return await in_thread(lambda: self._serving.kg.saved_query(name, **arguments))
        return await self.collection(collection).saved_query(name, **arguments)

    async def picture(self, collection: str, document: str, page: int) -> Picture:
        """A page of a document. Raises NotFoundError when its PDF is not held, InputError when it cannot be drawn."""
        self.access.check("read", collection)

        def draw() -> Picture:
            return self._serving.pictures.draw(self._file(collection, document), page)

        return await in_thread(draw)

    def _file(self, collection: str, document: str) -> Path:
        return file_of(self._serving.kg, collection, document)

    async def runs(self) -> list[Run]:
        """The kept answers of the collections that the visitor may see, newest first."""
        access = self.access
        return [run for run in await in_thread(self._serving.kg.runs) if access.sees(run.collection)]

    async def evaluations(self) -> list[Kept]:
        """What was measured on the collections that the visitor may see, newest first.

        What is of no collection is for those who may see all. Raises NotFoundError where no folder is set.
        """
        access, folder = self.access, self._serving.options.evaluations
        if folder is None:
            raise NotFoundError(
                "The server does not know where evaluations are kept.",
                "Start it with the folder of `kgrag lab eval --out`: KGRAG_SERVE__EVALUATIONS=runs/",
            )
        return [its for its in await in_thread(kept, folder) if access.sees(its.collection)]

    # ----- work in the background

    async def submit(self, kind: str, collection: str, **parameters: Any) -> Job:
        """Have a job done; to delete a whole collection takes an admin."""
        access = self.access
        access.check("admin" if kind == "delete" and not parameters.get("documents") else "write", collection)
        return await in_thread(self._serving.jobs.submit, kind, collection, parameters, owner=access.name)

    async def jobs(self, collection: str = "", limit: int = 20) -> list[Job]:
        """The newest jobs first, of a collection or of all that the visitor may see."""
        access = self.access
        if collection:
            access.check("read", collection)
        chosen = (collection,) if collection else access.collections
        return await in_thread(self._serving.jobs.list, chosen, limit=limit)

    async def cancel(self, job: Job) -> None:
        """Stop a job at its next step."""
        self.access.check("write", job.collection)
        await in_thread(self._serving.jobs.cancel, job.id)

    async def retry(self, job: Job) -> None:
        """Have a job go on where it stopped."""
        self.access.check("write", job.collection)
        await in_thread(self._serving.jobs.retry, job.id)
