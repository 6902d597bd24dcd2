"""A passage cut into words once: its stems, sentences, names and counts are all made from that."""

from collections.abc import Mapping
from functools import cached_property, lru_cache
from typing import Any

from kgrag.text.languages import ENGLISH, Language
from kgrag.text.names import Phrase, capitalised_phrases
from kgrag.text.sentences import join_sentences
from kgrag.text.tokens import UNSPACED_LETTER, Words, stems, symbols, text_words, tokens


class TokenisedPassage:
    """The words of a passage's title, text and headings, and what follows from them; each is made when first needed.

    Example:
        >>> passage = TokenisedPassage("Fram", "The Fram was built in Larvik.")
        >>> passage.words[:3], [phrase.name for phrase in passage.phrases]
        (['fram', 'the', 'fram'], ['fram', 'larvik'])
    """

    def __init__(self, title: str, text: str, section: str = "", language: Language = ENGLISH) -> None:
        """Take the texts as they are; `section` is the path of headings below the title."""
        self._title, self.as_written, self._section = title, text, section
        self.language = language

    @cached_property
    def title(self) -> Words:
        """The words of the title."""
        return tokens(self._title, self.language)

    @cached_property
    def text(self) -> Words:
        """The words of the text."""
        return tokens(self.as_written, self.language)

    @cached_property
    def title_words(self) -> list[str]:
        """The words of the title as searches know them, normalised."""
        return text_words(self.title)

    @cached_property
    def text_words(self) -> list[str]:
        """The words of the text as searches know them, normalised; one for each of `text`."""
        return text_words(self.text)

    @cached_property
    def headings(self) -> list[str]:
        """The words of the headings as searches know them, normalised."""
        return text_words(tokens(self._section, self.language))

    @cached_property
    def words(self) -> list[str]:
        """The words of title and text as searches know them, normalised; positions count from its first."""
        return self.title_words + self.text_words

    @cached_property
    def symbols(self) -> list[str]:
        """The words of the text that hold signs with a meaning, each once."""
        return symbols(self.as_written, self.language.code)

    @cached_property
    def phrases(self) -> list[Phrase]:
        """The capitalised phrases of the text, which may be names."""
        return capitalised_phrases(self.text, self.language)

    @cached_property
    def title_phrases(self) -> list[Phrase]:
        """The capitalised phrases of the title."""
        return capitalised_phrases(self.title, self.language, is_title=True)

    @cached_property
    def word_stems(self) -> list[str]:
        """The stem of each of `words`."""
        return stems(self.words, self.language)

    def stems(self) -> str:
        """Return all that the passage is found by, each between spaces: stems of title, text and headings, symbols.

        Each letter of a script without spaces counts by itself, too.
        """
        single = UNSPACED_LETTER.findall(f"{self._title} {self.as_written} {self._section}")
        return f" {' '.join([*self.word_stems, *stems(self.headings, self.language), *self.symbols, *single])} "

    def title_stems(self) -> str:
        """Return the stems of the title: a second field of the search, in which its words count once more."""
        return " ".join(self.word_stems[: len(self.title_words)])

    def sentences(self) -> str:
        """Return the sentences of the text in stems, as one string (kgrag.text.sentences)."""
        of_title = len(self.title_words)
        return join_sentences(self.text, self.word_stems[of_title:], self.word_stems[:of_title])


@lru_cache(maxsize=512)  # passages of one batch of a stage: the next stages visit most of them again
def cut(title: str, text: str, section: str, language: Language) -> TokenisedPassage:
    """Return a passage cut into words, the same object for a passage that was asked for a moment ago."""
    return TokenisedPassage(title, text, section, language)


def tokenised(row: Mapping[str, Any], language: Language) -> TokenisedPassage:
    """Return the words of a passage that is given as a row with title, text and section."""
    return cut(row["title"], row["text"], row["section"], language)
