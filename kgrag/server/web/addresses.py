"""Addresses of pages, which people can share."""

from urllib.parse import quote, urlencode


def address(*path: str, **query: str | int) -> str:
    """Return the address of a page from the parts of its path and its parameters; omits empty values."""
    parameters = {name: value for name, value in query.items() if value != ""}
    place = "/" + "/".join(quote(part, safe="") for part in path)
    return f"{place}?{urlencode(parameters)}" if parameters else place


def inside(target: str) -> str:
    """Return an address of this server unchanged, or the first page for any other."""
    local = target.startswith("/") and not target.startswith(("//", "/\\")) and target.isprintable()
    return target if local else "/"
