"""E-mails: a message (.eml) is a document, titled by its subject; its attachments are named, not read (RFC 5322)."""

from email import message_from_bytes, policy
from email.message import EmailMessage
from pathlib import Path
from typing import Any

from kgrag.loaders.apart import Content, content, read_apart
from kgrag.loaders.base import BadInput, Format, one_line
from kgrag.loaders.html import add_html
from kgrag.loaders.outline import Outline


def read_eml(path: Path) -> Content:
    """The text of a message, its plain form before the HTML one. Raises BadInput."""
    message = message_from_bytes(path.read_bytes(), policy=policy.default)
    if not any(message.get(name) for name in ("from", "to", "subject", "date", "received", "message-id")):
        raise BadInput("is no e-mail message: it has no sender, subject or date")
    outline = Outline()
    body = message.get_body(("plain", "html"))
    text = _text(body) if body is not None else ""
    if body is not None and body.get_content_subtype() == "html":
        add_html(outline, text)
    else:
        for block in text.replace("\r\n", "\n").split("\n\n"):
            outline.add(block)
    attached = [one_line(part.get_filename() or "") for part in message.iter_attachments()]
    metadata: dict[str, Any] = {name: _field(message, name) for name in ("from", "to", "cc")}
    metadata |= {"date": _date(message), "attachments": [name for name in attached if name]}
    return content(outline, _field(message, "subject"), metadata)


def _text(part: Any) -> str:
    try:
        return str(part.get_content())
    except (LookupError, ValueError):  # of an encoding that there is not
        return bytes(part.get_payload(decode=True) or b"").decode("utf-8", "replace")


def _field(message: EmailMessage, name: str) -> str:
    try:
        return one_line(str(message.get(name) or ""))
    except (ValueError, IndexError, AttributeError, TypeError):  # the parser fails on some that are damaged
        return ""


def _date(message: EmailMessage) -> str:
    """When it was sent, as an ISO date and time, or ""."""
    try:
        found: Any = message.get("date")
        return found.datetime.isoformat() if found is not None and found.datetime is not None else ""
    except (ValueError, IndexError, AttributeError, TypeError):
        return ""


EML = Format("e-mail message", (".eml",), read_apart("kgrag.loaders.mail:read_eml"))
