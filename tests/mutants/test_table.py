"""The table of planted faults fits the product and its tests."""

import re

import pytest
from run import AREAS, PAPERS, ROOT, Mutant, mutants

ALL = mutants()


def test_there_are_enough_and_each_has_a_name_of_its_own() -> None:
    assert len([m for m in ALL if m.area not in PAPERS]) >= 60
    assert len({m.name for m in ALL}) == len(ALL)
    assert {m.area for m in ALL} == AREAS


@pytest.mark.parametrize("mutant", ALL, ids=lambda m: m.name)
def test_it_can_be_planted_and_its_tests_are_there(mutant: Mutant) -> None:
    assert mutant.wrong() == ""
    assert mutant.old != mutant.new
    assert mutant.tests
    for test in mutant.tests:
        file, *names = test.partition("[")[0].split("::")
        text = (ROOT / file).read_text(encoding="utf-8")
        for name in names:
            assert re.search(rf"^ *(def|class) {name}\b", text, re.MULTILINE), test
