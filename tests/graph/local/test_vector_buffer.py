"""Vector indexes are built in segments as large as the heap allows."""

import re

import pytest

from kgrag.graph.local.config import Ports, conf_text
from kgrag.graph.local.releases import DEFAULT
from kgrag.settings import LocalSettings
from kgrag.values.errors import ConfigurationError


def _buffer(heap: str) -> int:
    text = conf_text(LocalSettings(heap=heap), DEFAULT, Ports(1, 2), (), "guide")
    found = re.search(r"^internal\.dbms\.index\.vector\.population_ram_buffer_size=(\d+)$", text, re.MULTILINE)
    assert found
    return int(found[1])


def test_the_buffer_grows_with_the_heap() -> None:
    assert [_buffer(heap) for heap in ("256m", "1g", "4g", "8192m")] == [128, 128, 512, 1024]


def test_a_heap_that_is_no_size_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="KGRAG_LOCAL__HEAP=lots"):
        _buffer("lots")
