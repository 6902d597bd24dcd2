"""What `kgrag serve --check` looks at beside the database server: whatever would keep it from serving."""

import os
import socket
from collections.abc import Iterator

from kgrag.graph.local.checks import run_checks
from kgrag.runtime.check import Check
from kgrag.server.app import check_locked
from kgrag.server.keys import Keys
from kgrag.settings import Settings
from kgrag.values.errors import KgragError


def serving_checks(settings: Settings) -> Iterator[Check]:
    """Every check, one after the other, those of `kgrag doctor` first. Changes nothing."""
    yield from run_checks(settings)
    yield _keys(settings)
    yield _port(settings)
    yield _uploads(settings)
    yield _model(settings)


def _keys(settings: Settings) -> Check:
    keys = Keys.of(settings)
    try:
        unlocked = check_locked(keys, settings.serve)
    except KgragError as error:
        return _failed("Keys", error)
    return Check("Keys", True, "none: this machine alone is served, without keys" if unlocked else f"{len(keys)}")


def _port(settings: Settings) -> Check:
    host, port = settings.serve.host, settings.serve.port
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as tried:
        tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            tried.bind((host, port))
        except OSError as error:
            detail = f"{host}:{port} cannot be used ({error.strerror or error})"
            return Check("Port", False, detail, "Choose another: --port, --host, or stop what has it.")
    return Check("Port", True, f"{host}:{port} is free")


def _uploads(settings: Settings) -> Check:
    folder = next(path for path in (settings.home / "uploads", *(settings.home / "uploads").parents) if path.exists())
    ok = os.access(folder, os.W_OK | os.X_OK)
    return Check("Uploads", ok, f"in {settings.home / 'uploads'}", "" if ok else f"Make {folder} writable.")


def _model(settings: Settings) -> Check:
    named = settings.chat.model
    return Check("Language model", True, named or "none: searches work, questions are not answered")


def _failed(name: str, error: KgragError) -> Check:
    return Check(name, False, error.message, error.remedy)
