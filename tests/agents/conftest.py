"""A small coast with triples."""

from collections.abc import Callable

import pytest
from harbour import FACTS, documents
from naming import own

COAST = own("agents-coast")


@pytest.fixture(scope="module")
def coast(fill: Callable[..., str]) -> str:
    return fill(COAST, documents(FACTS))
