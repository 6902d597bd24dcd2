"""The pages as a part of the server's application."""

from asyncio import get_running_loop
from concurrent.futures import ThreadPoolExecutor

from fastapi import FastAPI
from nicegui import app as pages
from nicegui import ui

from kgrag.client import KnowledgeGraph
from kgrag.server.jobs import Jobs
from kgrag.server.keys import Keys
from kgrag.server.pictures import Pictures
from kgrag.server.web import ask, graph, login, passage
from kgrag.server.web.session import Services

_THREADS = 64  # that wait for the database or a model: a question holds one while it is answered


def mount(app: FastAPI, kg: KnowledgeGraph, keys: Keys, jobs: Jobs) -> None:
    """Serve the pages from `app`, at every address that it does not serve itself; nothing may be added after them.

    One process serves them once: NiceGUI keeps its routes for itself.
    """
    services = Services(kg, keys, jobs, Pictures(kg.settings.loading))
    for page in (ask, graph, passage):
        page.add(services)
    app.include_router(login.router(keys, secure=kg.settings.serve.secure_cookie))
    pages.on_startup(_take_threads)
    pages.on_shutdown(services.pictures.close)
    ui.run_with(app, title="kgrag", dark=None, language="en-US", show_welcome_message=False, tailwind=True)


def _take_threads() -> None:
    get_running_loop().set_default_executor(ThreadPoolExecutor(_THREADS, "kgrag-pages"))
