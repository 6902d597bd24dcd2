"""The TAGME client: replies, faults and refusals."""

import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic import SecretStr
from tagging import LocalTagme

from kgrag.models.tagme import Annotation, Tagme
from kgrag.settings import TagmeSettings
from kgrag.values.errors import ConfigurationError, ModelError, UnavailableError

SPOTS = {"ship": ["Ship", 0.05], "Fram": ["Fram (ship)", 0.6], "Æger 🚢": ["AT&amp;T", 0.4], "nothing": ["", 0.9]}


@pytest.fixture(scope="module")
def running() -> Iterator[LocalTagme]:
    with LocalTagme(SPOTS) as server:
        yield server


@pytest.fixture
def server(running: LocalTagme) -> LocalTagme:
    running.reset()
    return running


def test_annotations_are_placed_by_letters(server: LocalTagme) -> None:
    with Tagme(server.settings(lang="de")) as tagme:
        text = "🚢 The Fram is a ship, the Æger 🚢 is nothing; the Fram sank."
        found = tagme.annotate(text)
    assert {(a.title, text[a.start : a.end], a.rho) for a in found} == {
        ("Ship", "ship", 0.05),
        ("Fram (ship)", "Fram", 0.6),
        ("AT&T", "Æger 🚢", 0.4),
    }
    assert len(found) == 4
    assert server.texts == [text]
    assert server.attempts[0]["lang"] == "de"


@pytest.mark.parametrize("fault", ["429", "500", "502", "503", "cut"])
def test_what_passes_is_tried_again(server: LocalTagme, fault: str) -> None:
    server.fail(fault)
    with Tagme(server.settings()) as tagme:
        assert tagme.annotate("Fram") == [Annotation("Fram (ship)", 0.6, 0, 4)]
    assert [a["fault"] for a in server.attempts] == [fault, ""]


def test_it_waits_as_long_as_the_server_says(server: LocalTagme) -> None:
    server.fail("429:1")
    with Tagme(server.settings()) as tagme:
        tagme.annotate("Fram")
    first, second = (a["when"] for a in server.attempts)
    assert 1.0 <= second - first < 3.0


def test_a_server_that_does_not_answer(server: LocalTagme) -> None:
    server.fail("timeout", "timeout")
    with (
        Tagme(server.settings(timeout=0.3, retries=1)) as tagme,
        pytest.raises(ModelError, match=r"within 0\.3 seconds"),
    ):
        tagme.annotate("Fram")
    assert len(server.attempts) == 2


@pytest.mark.parametrize(
    ("faults", "said"),
    [
        (["500"] * 2, "fails, after 2 tries .HTTP 500, The server had an error"),
        (["429"] * 2, "takes no more requests, after 2 tries"),
        (["cut"] * 2, "No whole reply"),
        (["400"], "refuses the request .HTTP 400"),
        (["malformed"], "nothing that can be used: .*could not convert"),
        (["html"], "nothing that can be used"),
    ],
)
def test_faults_that_stay(server: LocalTagme, faults: list[str], said: str) -> None:
    server.fail(*faults)
    with Tagme(server.settings(retries=1)) as tagme, pytest.raises(ModelError, match=said) as caught:
        tagme.annotate("Fram")
    assert not isinstance(caught.value, UnavailableError)
    assert len(server.attempts) == len(faults)


@pytest.mark.parametrize(("fault", "said"), [("401", "refuses the token"), ("403", "refuses the token"),
                                             ("404", "no TAGME at")])  # fmt: skip
def test_refusals_are_final(server: LocalTagme, fault: str, said: str) -> None:
    server.fail(fault)
    with Tagme(server.settings()) as tagme, pytest.raises(UnavailableError, match=said):
        tagme.annotate("Fram")
    assert len(server.attempts) == 1


def test_a_bad_token_is_not_shown(server: LocalTagme) -> None:
    with Tagme(server.settings(token=SecretStr("secret-1"))) as tagme, pytest.raises(UnavailableError) as caught:
        tagme.annotate("Fram")
    assert "secret-1" not in str(caught.value)
    assert "KGRAG_TAGME__TOKEN" in str(caught.value)


def test_nobody_there() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        endpoint = f"http://127.0.0.1:{free.getsockname()[1]}/tag"
    started = time.monotonic()
    with Tagme(TagmeSettings(endpoint=endpoint)) as tagme, pytest.raises(UnavailableError, match="No connection"):
        tagme.annotate("Fram")
    assert time.monotonic() - started < 5


@pytest.mark.parametrize(
    ("settings", "said"),
    [(TagmeSettings(), "needs a token"), (TagmeSettings(endpoint="tagme.example/tag"), "is no address")],
)
def test_settings_that_will_not_do(settings: TagmeSettings, said: str) -> None:
    with pytest.raises(ConfigurationError, match=said):
        Tagme(settings)


def test_replies_are_kept(server: LocalTagme, tmp_path: Path) -> None:
    for _ in range(2):
        with Tagme(server.settings(), tmp_path) as tagme:
            assert len(tagme.annotate("Fram, a ship")) == 2
    assert len(server.attempts) == 1
    server.fail("html")
    with Tagme(server.settings(), tmp_path) as tagme:
        with pytest.raises(ModelError):
            tagme.annotate("Another ship")
        assert len(tagme.annotate("Another ship")) == 1
    assert not any(b"good-token" in path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
