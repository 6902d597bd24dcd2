"""Options and the marker of the tests of recall."""

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("quality")
    group.addoption("--write-floors", action="store_true", help="record what is measured in tests/quality/floors.json")
    group.addoption("--pathrank", metavar="EXPR", default="pathrank", help="what to measure in place of pathrank")
