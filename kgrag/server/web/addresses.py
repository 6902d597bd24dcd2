"""Addresses of pages, so that people can share what they see."""

from urllib.parse import quote, urlencode


def address(*path: str, **query: str | int) -> str:
    """Return the address of a page from the parts of its path and its parameters; empty values are left out."""
    parameters = {name: value for name, value in query.items() if value != ""}
    place = "/" + "/".join(quote(part, safe="") for part in path)
    return f"{place}?{urlencode(parameters)}" if parameters else place


def inside(target: str) -> str:
    """Return an address if it is one of this server; else the first page."""
    local = target.startswith("/") and not target.startswith(("//", "/\\")) and target.isprintable()
    return target if local else "/"
