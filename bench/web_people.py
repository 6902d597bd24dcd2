"""Load-test the pages of a server with many people: page times, failures, and the server's memory.

    python bench/web_people.py http://127.0.0.1:8000 --people 50 --minutes 20 --collection demo --pid PID

Each person opens the application as a browser does, asks, follows the answer, comes back to it, looks at documents, at
the graph and at a passage, and rests in between. Prints a row a minute, and the percentiles by kind of page at the end;
exits with 1 if anything failed.
"""

import argparse
import asyncio
import random
import re
import statistics
import sys
import time
from collections import defaultdict
from collections.abc import Awaitable

import httpx
import psutil

_ASSETS = re.compile(r'(?:src|href)="(/assets/[^"]+)"')
_QUESTIONS = (
    "Which town was home to the designer of the Fram?",
    "Who led the Winter Journey to Cape Crozier?",
    "What is known about Roald Amundsen?",
    "Which ships were built in Norway?",
)


class People:
    """Simulated people and their measurements: seconds by kind of page, and failures."""

    def __init__(self, url: str, collection: str, until: float) -> None:
        self.url, self.collection, self.until = url, collection, until
        self.took: dict[str, list[float]] = defaultdict(list)
        self.failed: list[str] = []

    async def live(self, number: int) -> None:
        """Act as one person."""
        chance = random.Random(number)
        async with httpx.AsyncClient(base_url=self.url, timeout=120, trust_env=False) as client:
            await asyncio.sleep(chance.uniform(0, 20))
            while time.monotonic() < self.until:
                await self._timed("open", self._open(client))
                await asyncio.sleep(chance.uniform(2, 6))
                talk = await self._timed("answer", self._ask(client, chance.choice(_QUESTIONS)))
                await asyncio.sleep(chance.uniform(5, 15))
                if talk:
                    await self._timed("come back", self._got(client, f"/api/v1/conversations/{talk}"))
                for kind, place in (
                    ("documents", f"/api/v1/collections/{self.collection}/documents?limit=100"),
                    ("names", f"/api/v1/collections/{self.collection}/names?q=nan"),
                    ("conversations", "/api/v1/conversations"),
                ):
                    await self._timed(kind, self._got(client, place))
                    await asyncio.sleep(chance.uniform(2, 6))
                await self._timed("graph", self._drawn(client))
                await asyncio.sleep(chance.uniform(5, 15))

    async def _timed(self, kind: str, work: Awaitable[str]) -> str:
        began = time.monotonic()
        try:
            found = await work
        except (httpx.HTTPError, ValueError) as error:
            self.failed.append(f"{kind}: {type(error).__name__} {error}")
            return ""
        self.took[kind].append(time.monotonic() - began)
        return found

    async def _got(self, client: httpx.AsyncClient, place: str) -> str:
        reply = await client.get(place)
        reply.raise_for_status()
        return reply.text

    async def _open(self, client: httpx.AsyncClient) -> str:
        page = await self._got(client, "/")
        modules = ["/assets/api.js", "/assets/dom.js", "/assets/ask.js", "/assets/turn.js", "/assets/sources.js"]
        await asyncio.gather(*(self._got(client, place) for place in {*_ASSETS.findall(page), *modules}))
        await asyncio.gather(self._got(client, "/api/v1/start"), self._got(client, "/api/v1/conversations?limit=40"))
        return await self._got(client, f"/api/v1/collections/{self.collection}/examples")

    async def _ask(self, client: httpx.AsyncClient, question: str) -> str:
        asked = {"collections": [self.collection], "question": question, "system": "single+pathrank"}
        reply = await client.post("/api/v1/turns", json=asked)
        reply.raise_for_status()
        turn = reply.json()
        events = await self._got(client, f"/api/v1/turns/{turn['id']}/events")
        if '"state": "done"' not in events:
            raise ValueError(events[-200:])
        await self._got(client, f"/api/v1/turns/{turn['id']}")
        return str(turn["conversation"])

    async def _drawn(self, client: httpx.AsyncClient) -> str:
        place = f"/api/v1/collections/{self.collection}/drawings/queries/map"
        reply = await client.post(place, json={"parameters": {}})
        reply.raise_for_status()
        return ""


async def run(people: People, number: int, pid: int | None) -> list[float]:
    """Run the people, and return the server's memory each minute, in MB."""
    server = psutil.Process(pid) if pid else None
    work = asyncio.gather(*(people.live(n) for n in range(number)))
    needs: list[float] = []
    while not work.done():
        await asyncio.wait((work,), timeout=60)
        needs.append(server.memory_info().rss / 1e6 if server else 0.0)
        done = sum(map(len, people.took.values()))
        print(f"{len(needs):3} min  {done:6,} pages  {len(people.failed)} failed  {needs[-1]:,.0f} MB", flush=True)
    await work
    return needs


def main() -> None:
    """Parse the command line and run the people."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("url")
    parser.add_argument("--people", type=int, default=50)
    parser.add_argument("--minutes", type=float, default=20)
    parser.add_argument("--collection", default="demo")
    parser.add_argument("--pid", type=int, help="process of the server, whose memory is told")
    asked = parser.parse_args()
    people = People(asked.url, asked.collection, time.monotonic() + asked.minutes * 60)
    needs = asyncio.run(run(people, asked.people, asked.pid))
    for kind, took in people.took.items():
        p50, p95 = statistics.median(took), statistics.quantiles(took, n=20)[-1]
        print(f"{kind:14} {len(took):6,}  p50 {p50 * 1000:7,.0f} ms  p95 {p95 * 1000:7,.0f} ms  most {max(took):.2f} s")
    if len(needs) > 4:
        half = len(needs) // 2
        print(f"memory: {statistics.mean(needs[2:half]):,.0f} MB, then {statistics.mean(needs[half:]):,.0f} MB")
    for each in people.failed[:20]:
        print(each)
    sys.exit(bool(people.failed))


if __name__ == "__main__":
    main()
