"""The papers: every setting exists and accepts the value, and every system of a table can be made."""

import pytest
from pydantic import create_model

from kgrag.agents.system import STRATEGIES, check_system
from kgrag.lab.experiment import spelt
from kgrag.lab.papers import EVALUATION, Paper, PaperSetting, find_paper, override, papers, value_of
from kgrag.lab.summary import measures
from kgrag.retrieval.base import RETRIEVERS
from kgrag.settings import Settings
from kgrag.values.errors import NotFoundError

NAMES = ("bdtr", "gear", "gears", "gnn-ret", "hipporag", "hipporag2", "kgp", "rgnn-ret")


GIVEN = {
    **dict.fromkeys(("alphas", "alphas2", "alphas3", "alphas_mean", "rgnn_alphas", "alphas_only"), "(0.4,)"),
    **dict.fromkeys(("alphas_y", "alphas_yt", "alphas_o10", "alphas_o50"), "(0.4,)"),
    **dict.fromkeys(("rgnn_alphas_o25", "rgnn_alphas_o50"), "(0.4,)"),
    **dict.fromkeys(("beta", "beta_only", "beta_y", "beta_yt", "beta_o25", "beta_o50"), "0.8"),
    **dict.fromkeys(("dpr", "encoder", "t5", "llama", "weights", "colbert"), "'FOLDER'"),
}
"""The inputs that rows of tables need from the user."""
PRINTED = {
    "gear": dict(enumerate((9283.8, 1861.8, 1331.8, 7867699.3, 2710.2, 2072.8, 2326.8, 2240.1, 2638.4, 977.2), 2)),
    "kgp": {2: 5868.11, 3: 2275.53, 4: 335777.85},
    "bdtr": {1: 8275.69, 2: 593.91, 3: 324.52, 4: 3.1, 5: 343.2},
    "gnn-ret": {1: 3959.6, 2: 799.1, 3: 399.2, 4: 809.7, 5: 53568.492, 6: 245.6, 7: 1221.2, 8: 298.2},
}
"""The sum of all numbers of each table, computed from the papers."""


def _settings(**values: object) -> Settings:
    return Settings(_env_file=None, **values)  # type: ignore[arg-type, call-arg]


def _check(setting: PaperSetting) -> None:
    """Raise if there is no such setting, or it rejects the value."""
    head, *path = setting.path
    if head == EVALUATION:
        assert path in (["sample"], ["depth"], ["per_question"])
    elif head in ("retrieval", "agents") and len(path) == 2:
        name = path[0].replace("_", "-")
        kind = RETRIEVERS.find(name) if head == "retrieval" else STRATEGIES.find("gear" if name == "answer" else name)
        kind.check({path[1]: setting.value})
    else:
        model = Settings if not path else type(getattr(_settings(), head))
        name = path[-1] if path else head
        field = model.model_fields[name]
        create_model("One", **{name: (field.annotation, field)}).model_validate({name: setting.value})


@pytest.mark.parametrize("name", NAMES)
def test_every_setting_exists_and_takes_the_value(name: str) -> None:
    assert papers() == sorted(NAMES)
    paper = find_paper(name)
    assert paper.differs
    check_system(paper.system)
    for setting in paper.settings:
        _check(setting)
        assert setting.source


@pytest.mark.parametrize("name", NAMES)
def test_every_table_and_figure_can_be_measured(name: str) -> None:
    paper = find_paper(name)
    for table in (*paper.tables.values(), *(figure for figure in paper.figures.values() if figure.rows)):
        known = {*measures(100), *measures(200, at=(17, 200)), "EM", "F1", "Acc", "hours", "tokens"}
        if table.command:
            continue  # counted
        assert {measure.partition(" ")[0] for measure in table.measures} <= known
        assert all((" " in measure) == (table.by is not None) for measure in table.measures)
        for row in table.rows:
            assert (row.system is None) == bool(row.missing)
            for place in range(len(table.data)):
                values = {"k": 5, **GIVEN} | {key: its[place] for key, its in table.values.items()}
                if row.system is not None:
                    spelt(row.system.format(**values))
            for key, value in row.settings.items():
                assert isinstance(value, int) or value.strip("{}") in paper.inputs
                _check(PaperSetting(key, value, ""))
        assert len({row.label for row in table.rows}) == len(table.rows)


def _cell(paper: Paper, number: str, label: str, data: str) -> tuple[float | None, ...]:
    table = paper.table(number)
    row = next(row for row in table.rows if row.label == label)
    return row.numbers[table.data.index(data)]


def test_numbers_as_printed() -> None:
    assert _cell(find_paper("gear"), "2", "GEAR", "2wiki") == (89.1, 95.3, 95.9)
    assert _cell(find_paper("gear"), "3", "HippoRAG w/ IRCoT", "musique") == (14.2, 25.9)
    assert _cell(find_paper("gear"), "8", "l = 3, n = 2", "musique") == (57.2, 66.6, 70.2)
    assert _cell(find_paper("kgp"), "2", "KGP-T5", "hotpotqa") == (76.53, 46.51, 66.77)
    assert _cell(find_paper("gnn-ret"), "1", "RGNN-Ret", "iirc") == (43.4, 28.3, 48.1)
    assert _cell(find_paper("gnn-ret"), "1", "SBERT", "quality") == (None, None, 53.4)
    assert _cell(find_paper("bdtr"), "1", "HippoRAG2: BDTR", "musique") == (42.3, 56.13)


@pytest.mark.parametrize("name", PRINTED)
def test_no_number_of_a_table_is_lost_or_altered(name: str) -> None:
    tables = find_paper(name).tables.items()
    sums = {
        int(number): sum(n or 0 for row in table.rows for its in row.numbers for n in its) for number, table in tables
    }
    assert sums == pytest.approx(PRINTED[name])


def test_defaults_are_the_papers_and_what_was_set_stays() -> None:
    paper = find_paper("gear")
    applied = paper.apply(_settings())
    assert applied.embedder == "sbert:all-mpnet-base-v2"
    assert applied.agents["answer"]["abstain"] is False
    assert applied.retrieval["sync_ge"]["exact"] is True
    own = _settings(
        embedder="minilm",
        agents={"gear": {"steps": 2}, "answer": {"words": 3}},
        retrieval={"sync_ge": {"exact": False, "beams": 5}},
    )
    applied = paper.apply(own)
    assert applied.embedder == "minilm"
    assert (applied.agents["gear"]["steps"], applied.agents["gear"]["fusion"]) == (2, "all")
    assert (applied.agents["answer"]["words"], applied.agents["answer"]["abstain"]) == (3, False)
    assert RETRIEVERS.find("sync-ge").check({}, (), applied.retrieval).model_dump()["exact"] is False
    assert (applied.retrieval["sync_ge"]["beams"], applied.retrieval["sync_ge"]["length"]) == (5, 2)
    own = _settings(indexing={"whole_tokens": 64}, agents={"answer": {"tokens": 100}})
    applied = find_paper("rgnn-ret").apply(own)
    assert (applied.indexing.whole_tokens, applied.indexing.passage_tokens) == (64, 200)
    assert STRATEGIES.find("rgnn").check({}, applied.agents).tokens == 100
    assert own.indexing.passage_tokens != 200


def test_a_paper_that_builds_on_another() -> None:
    base, paper = find_paper("gnn-ret"), find_paper("rgnn-ret")
    assert {s.name for s in base.settings} < {s.name for s in paper.settings}
    assert paper.setting("retrieval.gnn_ret.beta") == 0.9
    assert base.setting("retrieval.gnn_ret.beta") is None


def test_a_row_with_settings_of_its_own() -> None:
    before = find_paper("gear").apply(_settings())
    changed = override(before, {"retrieval.sync_ge.length": 3, "chat.max_tokens": 5})
    assert value_of(changed, ("retrieval", "sync_ge", "length")) == changed.chat.max_tokens - 2 == 3
    assert value_of(before, ("retrieval", "sync_ge", "length")) == 2
    assert value_of(changed, ("retrieval", "sync_ge", "beams")) == 10


def test_what_there_is_none_of() -> None:
    with pytest.raises(NotFoundError, match="hipporag2"):
        find_paper("gaer")
    with pytest.raises(NotFoundError, match="There are: 2, 3, 4, 5, 6, 7, 8, 9, 10, 11"):
        find_paper("gear").table("12")
