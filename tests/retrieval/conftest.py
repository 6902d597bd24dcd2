"""Collections named after their test modules."""

from collections.abc import Callable

import pytest
from coast import SHIPS, coast_documents

from kgrag.values.documents import Document, Section


@pytest.fixture(scope="module")
def coast(fill: Callable[..., str], request: pytest.FixtureRequest) -> str:
    return fill(request.module.__name__, coast_documents())


@pytest.fixture(scope="module")
def ships(fill: Callable[..., str], request: pytest.FixtureRequest) -> str:
    texts = SHIPS.items()
    documents = [Document(title, (Section(text),), title, metadata={"letter": title[0]}) for title, text in texts]
    return fill(request.module.__name__, documents)
