"""Fixtures of the tests of evaluating commands."""

from collections.abc import Iterator

import pytest
from question_set import evaluated

from kgrag import KnowledgeGraph


@pytest.fixture(scope="module")
def evaluations_are_deleted(kg: KnowledgeGraph) -> Iterator[None]:
    """Deletes the collections that evaluations have made, once a module is done."""
    yield
    for name in evaluated(kg):
        kg[name].delete()
