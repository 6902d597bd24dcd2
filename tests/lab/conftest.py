"""Fixtures for the tests of evaluation commands."""

from collections.abc import Iterator

import pytest
from question_set import evaluated

from kgrag import KnowledgeGraph


@pytest.fixture(scope="module")
def evaluations_are_deleted(kg: KnowledgeGraph) -> Iterator[None]:
    """Deletes the collections made by evaluations at the end of a module."""
    yield
    for name in evaluated(kg):
        kg[name].delete()
