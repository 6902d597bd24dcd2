from kgrag.retrieval.trail import score, trail
from kgrag.values.results import Hit, Passage, Step


def hit(*why: Step) -> Hit:
    return Hit(Passage("id", "key", "Fram", "text"), 1.0, why)


def test_ranks_in_indexes_stand_side_by_side() -> None:
    why = (Step("bm25 rank 3", "Passage", "", 12.13), Step("dense rank 1", "Passage", "", 0.8))
    assert trail(hit(*why)) == "bm25 rank 3 (12.1) + dense rank 1 (0.800)"


def test_named_nodes_form_a_path_from_the_question() -> None:
    why = (Step("names", "Entity", "Fram"), Step("mentioned in", "Passage", "Colin Archer", 0.5))
    assert trail(hit(*why)) == "question —names→ Name Fram —mentioned in→ Passage Colin Archer (0.500)"


def test_a_path_and_an_index_are_two_parts() -> None:
    path, rank = Step("names", "Entity", "Fram"), Step("bm25 rank 1", "Passage", "")
    assert trail(hit(path, rank)) == "question —names→ Name Fram + bm25 rank 1"
    assert trail(hit(rank, path)) == "bm25 rank 1 + question —names→ Name Fram"


def test_without_steps_it_is_empty() -> None:
    assert trail(hit()) == ""


def test_scores_keep_three_digits() -> None:
    assert [score(x) for x in (0.0303, 12.13, 999.4, 1e-9, 123456.0)] == ["0.0303", "12.1", "999", "1e-09", "1.23e+05"]
