"""A passage tokenised once; its stems, sentences, names and counts are derived from that."""

from collections.abc import Mapping
from functools import cached_property, lru_cache
from typing import Any

from kgrag.text.languages import ENGLISH, Language
from kgrag.text.names import Phrase, capitalised_phrases
from kgrag.text.sentences import join_sentences
from kgrag.text.tokens import UNSPACED_LETTER, Words, stems, symbols, text_words, tokens


class TokenisedPassage:
    """The words of a passage's title, text and headings, and values derived from them on first use.

    Example:
        >>> passage = TokenisedPassage("Fram", "The Fram was built in Larvik.")
        >>> passage.words[:3], [phrase.name for phrase in passage.phrases]
        (['fram', 'the', 'fram'], ['fram', 'larvik'])
    """

    def __init__(self, title: str, text: str, section: str = "", language: Language = ENGLISH) -> None:
        """Store the texts; `section` is the path of headings below the title."""
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
        """The words of the title in search form."""
        return text_words(self.title)

    @cached_property
    def text_words(self) -> list[str]:
        """The words of the text in search form; one for each of `text`."""
        return text_words(self.text)

    @cached_property
    def headings(self) -> list[str]:
        """The words of the headings in search form."""
        return text_words(tokens(self._section, self.language))

    @cached_property
    def words(self) -> list[str]:
        """The words of title and text in search form; positions count from the first one."""
        return self.title_words + self.text_words

    @cached_property
    def symbols(self) -> list[str]:
        """The distinct words of the text with meaningful signs."""
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
        """Return all search terms of the passage, between spaces: stems of title, text and headings, and symbols.

        Each letter of a script without spaces is also a term by itself.
        """
        single = UNSPACED_LETTER.findall(f"{self._title} {self.as_written} {self._section}")
        return f" {' '.join([*self.word_stems, *stems(self.headings, self.language), *self.symbols, *single])} "

    def title_stems(self) -> str:
        """Return the stems of the title, a second search field in which its words count again."""
        return " ".join(self.word_stems[: len(self.title_words)])

    def sentences(self) -> str:
        """Return the sentences of the text in stems, as one string (kgrag.text.sentences)."""
        of_title = len(self.title_words)
        return join_sentences(self.text, self.word_stems[of_title:], self.word_stems[:of_title])


@lru_cache(maxsize=512)  # the passages of one batch, most of which the next stages visit again
def cut(title: str, text: str, section: str, language: Language) -> TokenisedPassage:
    """Return a tokenised passage, from the cache if it was requested recently."""
    return TokenisedPassage(title, text, section, language)


def tokenised(row: Mapping[str, Any], language: Language) -> TokenisedPassage:
    """Return the tokenised passage of a row with title, text and section."""
    return cut(row["title"], row["text"], row["section"], language)
