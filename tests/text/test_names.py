"""Words and names: the normal form, aliases of titles, capitalised phrases, and mentions of names in a text."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kgrag.text.aliases import passage_aliases, title_aliases, without_parenthesis
from kgrag.text.languages import language_of
from kgrag.text.names import without_initials
from kgrag.text.tokens import normalise, stems, tokens
from tests.text.reading_names import known_names, phrases_of


@pytest.mark.parametrize(
    ("name", "normal"),
    [
        ("The  Hague", "the hague"), ("Tromsø", "tromsø"), ("Łódź", "łódź"), ("Київ", "київ"), ("東京", "東京"),
        ("…", ""), ("R. G. Collingwood", "rg collingwood"), ("R.G. Collingwood", "rg collingwood"),
        ("r. g. collingwood", "rg collingwood"), ("Vitamins A, B", "vitamins a b"), ("Plan 2. B", "plan 2 b"),
        ("Jean-Pierre", "jean pierre"), ("O’Brien's", "obrien's"), ("Straße", "strasse"),
    ],
)  # fmt: skip
def test_normalise(name: str, normal: str) -> None:
    assert normalise(name) == normal


@given(st.text())
def test_normal_forms_are_stable(text: str) -> None:
    once = normalise(text)
    assert normalise(once) == once or not once.isascii()
    assert len(stems(once.split())) == len(once.split())


@given(
    st.lists(st.sampled_from([*"'’ s1-.,()“”|\n东é", "of ", "Oslo ", "th ", "The ", "War ", "Mr. ", "See Section "]))
)
@example(["'", " ", "of ", "Oslo "])
@example(["'", "'", "'", ","])
def test_any_text_has_its_names(parts: list[str]) -> None:
    text = "".join(parts)
    assert len(phrases_of(tokens(text))) <= len(text)
    assert all(alias.normal for alias in title_aliases("The Oslo War", text))
    assert all(alias.normal for alias in title_aliases(text, "The Oslo War began."))


def test_sentence_starts() -> None:
    words = tokens("It sank. Dr. A. Smith (the owner) wept! He left.")
    assert [w.norm for w in words if w.starts] == ["it", "dr", "a", "he"]  # abbreviations look like ends


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("the Earl of Eglinton.He was", ["the", "Earl", "of", "Eglinton", "He*", "was"]),
        ("sa mère.Évreux", ["sa", "mère", "Évreux*"]),
        ("in 1940.He left", ["in", "1940", "He*", "left"]),
        ("Karl II.The king", ["Karl", "II", "The*", "king"]),
        ("ASP.Net, ASP.NET and Node.js", ["ASP.Net", "ASP.NET", "and", "Node.js"]),
        ("Console.WriteLine in 3.X", ["Console.WriteLine", "in", "3.X"]),
        ("the U.S.Army of J.R.Tolkien", ["the", "U.S.Army", "of", "J.R.Tolkien"]),
    ],
)
def test_sentences_may_end_without_a_space(text: str, words: list[str]) -> None:
    assert [word.raw + "*" * (word.starts and i > 0) for i, word in enumerate(tokens(text))] == words


def test_names_before_such_an_end() -> None:
    words = tokens("A film by José Ferreyra.The star was Nelly Omar.Born in Guaminí.")
    names = {normalise(name): name for name in ("José Ferreyra", "Nelly Omar")}
    assert set(known_names(words, names.__contains__)) == set(names)


def test_aliases() -> None:
    found = {a.normal: a.weight for a in title_aliases("The Fram (ship)", "The Fram was built in Larvik.")}
    assert found["the fram ship"] == 1.0
    assert found["the fram"] == 1.0
    assert found["fram"] == 0.9
    assert title_aliases("", "Nothing") == []
    assert {a.normal: a.weight for a in title_aliases("Albert S. Rogell", "")}["albert rogell"] == 0.8
    assert {a.normal: a.weight for a in title_aliases("Paris, Texas", "")}["paris"] == 0.6
    lead = {a.normal: a.weight for a in title_aliases("Nansen", "Fridtjof Wedel Nansen (born 1861) was an explorer.")}
    assert lead["fridtjof wedel nansen"] == 0.8
    born = title_aliases("Nansen", "Born in Store Frøen, he studied zoology.")
    assert [a.normal for a in born] == ["nansen"]


def test_abbreviations_within_names() -> None:
    words = tokens(
        "Warner Bros. Records moved from St. Louis Park to Fort St. John. On Main St. The shop of Mr. Moe closed."
    )
    names = {"warner bros records", "st louis park", "fort st john", "main st", "moe"}
    assert phrases_of(words).keys() == names


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("We read J.K. Rowling and J. R. R. Tolkien.", {"jk rowling", "jrr tolkien"}),
        ("The poems of T.S. Eliot and W.H. Auden are short.", {"ts eliot", "wh auden"}),
        ("He left the U.S. Army. He moved to the U.S. The Fram sailed.", {"us army", "fram"}),
        ("We met Dr. Watson. Mr. Brown came, and Gen. Grant won.", {"watson", "brown", "grant"}),
        (
            "In 1912 Amundsen left; in May 1845 Franklin did. From 1990 to 1995 Oslo grew.",
            {"amundsen", "franklin", "oslo"},
        ),
        ("The 1998 FIFA World Cup began.", {"1998 fifa world cup", "fifa world cup"}),
        ("C++ is old. He left it for F# in the key of C.", {"c++", "f#"}),
        ("He left World War I at last; in Oslo I saw Henry I.", {"world war i", "oslo", "henry i"}),
        ("The film “Puss in Boots” is in the Table of Contents.", {"puss in boots"}),
        ("The Society for the Social Studies of Science met.", {"society for the social studies of science"}),
        ("He saw The Miracle of Morgan's Creek.", {"miracle of morgan's creek", "morgan's creek"}),
        ("Gen. Ulysses S. Grant met the dr. Then it was late.", {"ulysses s grant"}),
    ],
)
def test_names_stand_behind_initials_titles_and_years(text: str, names: set[str]) -> None:
    assert phrases_of(tokens(text)).keys() == names


def test_parenthesis_and_initials() -> None:
    assert without_parenthesis("Mercury (planet)") == "Mercury"
    assert without_parenthesis("(planet)") == ""
    assert without_initials("albert s rogell") == "albert rogell"
    assert without_initials("albert rogell") is None
    assert without_initials("j s bach") is None


def test_capitalised_phrases() -> None:
    text = (
        "The Bank of England met Sir John Franklin in Upper Canada. In May 1845 he sailed; HMS Terror followed. "
        "1998 FIFA World Cup."
    )
    found = phrases_of(tokens(text))
    assert {"bank of england", "sir john franklin", "upper canada", "hms terror", "1998 fifa world cup"} <= found.keys()
    assert "may 1845" not in found
    assert not any(name.startswith("the ") for name in found)
    assert found["hms terror"] == "HMS Terror"


def test_what_manuals_write_with_a_capital_is_no_name() -> None:
    text = (
        "Consequently Bash reads it. See Section 4.8 and Table 2. Deleted.\n- Optional words.\n"
        "Use Times Roman. The value TRUE or NA NA 3 4 5 is kept by Kaplan. Paste it into the GNU Emacs. "
        "Typically Alpha waits, N X 4. POSIX rules."
    )
    found = phrases_of(tokens(text))
    assert set(found) == {"bash", "times roman", "kaplan", "gnu emacs", "alpha", "posix"}


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("The rows are Df Sum   RSS   AIC here.", {"df sum", "rss", "aic"}),  # columns
        ("It lists B6 10.4 0.34 and Mac OS X and ISO C with Acrobat 7.00.", {"mac os x", "iso c", "acrobat 7.00"}),
        ("It needs Z in the Cholesky of L 0 LR AAX ZX.", {"cholesky"}),  # formulas
        ("The weight of Fleming Gρ is for Xβ.", {"fleming gρ"}),
        ("It is V1.0a 2002 of Chap. 4, Term 1, Release 2.4.", set()),
        ("That is the rule of G. Consider the other.", set()),
        ("It won in 1990 the URW Prize and the 1998 FIFA Cup.", {"urw prize", "1998 fifa cup", "fifa cup"}),
    ],
)
def test_what_papers_write_with_a_capital_is_no_name(text: str, names: set[str]) -> None:
    assert set(phrases_of(tokens(text))) == names


def test_a_part_of_a_document_may_be_a_name_without_a_number() -> None:
    found = phrases_of(tokens("It lies in the State of Norland and has Class 3, Table 2 and State 4."))
    assert set(found) == {"state of norland", "norland"}


def test_numbers_and_captions_are_no_part_of_headings() -> None:
    known = {"1 Figures of Ships", "2 Polar Ships", "A.3 Coxph Models", "Table 1: Polar Data", "12 Angry Men"}
    text = "A.3 Coxph Models\n\nTable 1: Polar Data\n\nIt was late."
    assert {a.normal for a in passage_aliases("2 Polar Ships", text, known)} == {"polar ships", "coxph models"}
    assert {a.normal for a in passage_aliases("12 Angry Men", "", known)} == {"12 angry men", "angry men"}


def test_headings_without_numbers_and_headings_of_any_document() -> None:
    known = {"3.5.1 Brace Expansion", "4 Purpose", "12 Angry Men", "Notes", "B.2 Index of Names"}
    text = "3.5.1 Brace Expansion\n\nThe value of x is kept.\n\nNote: This is old.\n\nN = 4\n\nThe Bash Team was here."
    assert {a.normal for a in passage_aliases("4 Purpose", text, known)} == {"brace expansion"}
    assert {a.normal for a in passage_aliases("12 Angry Men", "", known)} == {"12 angry men", "angry men"}
    assert passage_aliases("Notes", "Notes\n\nnothing", known) == []


def test_what_a_small_word_joins_counts_by_itself() -> None:
    found = phrases_of(tokens("It flows between Zambia and Zimbabwe, past the University of Upper Lusaka."))
    assert {"zambia and zimbabwe", "zambia", "zimbabwe"} <= found.keys()
    assert {"university of upper lusaka", "upper lusaka"} <= found.keys()
    assert found.keys().isdisjoint({"university", "upper"})


def test_headings_name_a_passage() -> None:
    text = (
        "Fram (ship)\nShe was built in Larvik.\n\nSir John Franklin (born 1786) went north.\n\n"
        "Not a heading, since it goes on\nand on.\n\nThe Terror Bay was found.\n\nEarly life\nHe was poor."
    )
    found = {a.normal: a.weight for a in passage_aliases("Ships > Polar Ships", text)}
    assert found == {"fram ship": 1.0, "fram": 1.0, "polar ships": 1.0}
    assert passage_aliases("", "") == []
    assert passage_aliases("", "Only A Line") == []


def test_known_headings_may_end_on_a_stop() -> None:
    text = (
        "Love, Honor and Oh Baby!\n\nA film of 1933.\n\nBack in the U.S.A.\n\nA song.\n\nTold to all.\n\nIt was late."
    )
    known = {"Love, Honor and Oh Baby!", "Back in the U.S.A.", "Told to all."}
    assert passage_aliases("", text) == []
    found = {a.normal for a in passage_aliases("Songs > Back in the U.S.A.", text, known)}
    assert found == {"love honor and oh baby", "back in the usa"}


def test_find_names_takes_the_longest_and_those_within() -> None:
    known = {"new york", "york", "new york times", "fram"}
    words = tokens("The New York Times of New York praised york and the Fram.")
    assert known_names(words, known.__contains__) == {"new york times": [1], "new york": [1, 5], "fram": [11]}
    inside = known_names(tokens("New York Times"), known.__contains__, skip={"new york times"})
    assert inside == {"new york": [0]}
    known = {"university of idaho vandals football", "university of idaho", "idaho vandals", "idaho", "vandals"}
    words = tokens("The University of Idaho Vandals Football team won in Idaho.")
    assert known_names(words, known.__contains__) == {
        "university of idaho vandals football": [1],
        "university of idaho": [1],  # the longest name within, without overlapping or single-word names
        "idaho": [9],
    }


@pytest.mark.parametrize(
    ("text", "name", "code", "places"),
    [
        ("He lived in the East. London was far.", "East London", "en", None),
        ("Did he go East? London was far.", "East London", "en", None),
        ('He said "to the East." London was far.', "East London", "en", None),
        ("Far East\n\nLondon was far.", "East London", "en", None),
        ("A line ends with East\nLondon begins the next.", "East London", "en", [4]),
        ("Near St. Louis.", "St. Louis", "en", [1]),
        ("The U.S. Navy came.", "US Navy", "en", [1]),
        ("So Freddy vs. Jason was made.", "Freddy vs. Jason", "en", [1]),
        ("It asks Yahoo! News.", "Yahoo! News", "en", [2]),
        ("In Way... Way Out he plays.", "Way... Way Out", "en", [1]),
        ("Der 1. FC Köln.", "1. FC Köln", "de", [1]), ("他向西，安全到达那里。", "西安", "zh", None),
        ("在东北，京剧很有名。", "北京", "zh", None),
        ("这里是西。安全。", "西安", "zh", None), ("这里是西. 安全。", "西安", "zh", None),
        ("他看了《你好，李焕英》。", "你好，李焕英", "zh", [3]), ("见到乔治·布什。", "乔治·布什", "zh", [2]),
        ("響け！ユーフォニアムを見た。", "響け！ユーフォニアム", "ja", [0]),
    ],
)  # fmt: skip
def test_no_name_goes_over_the_end_of_a_sentence(text: str, name: str, code: str, places: list[int] | None) -> None:
    language = language_of(code)
    normal = normalise(name, language)
    names = known_names(tokens(text, language), {normal}.__contains__, language=language)
    assert names == ({} if places is None else {normal: places})


@given(st.text(max_size=200))
def test_any_text_has_names(text: str) -> None:
    words = tokens(text)
    phrases_of(words)
    passage_aliases(text, text)
    positions = known_names(words, lambda name: True)
    assert all(0 <= p < len(words) for ps in positions.values() for p in ps)
