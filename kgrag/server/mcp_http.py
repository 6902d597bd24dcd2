"""Serve the tools of `kgrag mcp` over HTTP at /mcp; requests are stateless, with the rights of their keys."""

import asyncio
import threading
from functools import lru_cache
from typing import Any

from mcp.server.mcpserver import MCPServer
from mcp.server.transport_security import TransportSecuritySettings
from starlette.requests import ClientDisconnect, Request
from starlette.types import Message, Receive, Scope, Send

from kgrag.client.graph import KnowledgeGraph
from kgrag.runtime import limits
from kgrag.server.authentication import access_of
from kgrag.server.failures import response
from kgrag.server.keys import Access
from kgrag.server.mcp import Tools, mcp_server
from kgrag.server.request_queue import left
from kgrag.server.throttle import BODY_KB
from kgrag.settings import ServeOptions
from kgrag.values.errors import BusyError

_GUARDED = TransportSecuritySettings(enable_dns_rebinding_protection=False)  # hosts and origins are checked before
_KNOWN = 64  # cached servers, one for each set of collections


class McpDoor:
    """An ASGI application; its requests have passed the guard."""

    def __init__(self, kg: KnowledgeGraph, options: ServeOptions) -> None:
        @lru_cache(_KNOWN)
        def server(collections: tuple[str, ...], cypher: bool) -> MCPServer[Any]:
            tools = Tools(
                kg, collections, deadline=options.deadline, budget=options.budget, trust="guest", cypher=cypher
            )
            return mcp_server(tools)

        self._server = server
        self._limit = BODY_KB * 1024
        self._most = options.concurrency
        self._under_way = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI."""
        access = access_of(Request(scope))
        if self._under_way >= self._most:
            await response(BusyError("The server works on as much as it can.", "Try again."))(scope, receive, send)
            return
        self._under_way += 1
        try:
            await self._answer(access, scope, receive, send)
        finally:
            self._under_way -= 1

    async def _answer(self, access: Access, scope: Scope, receive: Receive, send: Send) -> None:
        server = self._server(access.collections, access.may("analyst"))
        server.streamable_http_app(
            json_response=True, stateless_http=True, max_request_body_size=self._limit, transport_security=_GUARDED
        )  # creates a session manager, which can run only once
        manager = server.session_manager
        request, departure = Request(scope, receive), threading.Event()
        try:
            body: bytes | None = await request.body()
        except ClientDisconnect:
            return
        leaving = asyncio.ensure_future(left(request))
        leaving.add_done_callback(lambda _: departure.set())

        async def again() -> Message:
            nonlocal body
            if body is None:
                await asyncio.shield(leaving)
                return {"type": "http.disconnect"}
            message, body = {"type": "http.request", "body": body, "more_body": False}, None
            return message

        try:
            with limits.limited(cancelled=departure):  # visible to the threads of the tools
                async with manager.run():
                    await manager.handle_request(scope, again, send)
        finally:
            leaving.cancel()
