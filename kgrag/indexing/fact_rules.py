"""Facts that patterns find in passages, without a language model: sentences in English, key-value lines, tables.

Precision comes before recall. A subject is a name, or words that can only mean the title. The matched part of a
sentence must be free of negation and doubt.
"""

import re
from collections.abc import Iterator, Sequence

from kgrag.indexing.chunking import row_text
from kgrag.indexing.fact_rows import NONE, CellTriple, Extraction, NamedEntity
from kgrag.text.aliases import title_aliases, without_parenthesis
from kgrag.text.languages import ENGLISH, Language
from kgrag.text.letters import word_lists
from kgrag.text.names import begins_sentence, names_something
from kgrag.text.sentences import sentences
from kgrag.text.tokens import normalise, tokens
from kgrag.values.documents import Triple

VERSION = "rules.3"
"""Raised with each change of the patterns, so that passages are read again."""
_LONGEST_VALUE = 100  # characters; a longer cell or value is prose
_LONGEST_SENTENCE = 1000  # characters; longer text lacks full stops, such as a list of names

_UPPER = "".join(letter for letter in map(chr, range(0x530)) if letter.isupper())
_MONTHS = "|".join(month.title() for month in ENGLISH.months.split("|"))
_WORD = rf"(?:(?:St|Mt|Ft|Jr|Sr|Dr)\.|(?:[{_UPPER}]\.)+|(?!(?:{_MONTHS})\b)[{_UPPER}][\w'’-]*)"
_INNER = r"(?:of the|of|de la|de|del|della|di|da|van der|van|von|der|le|la|du|bin|ibn|al|&)"
_NAME = rf"(?>{_WORD}(?: (?:{_INNER} )?{_WORD})*)(?<!['’]s)"
_DATE = rf"(?>(?:(?:\d{{1,2}} )?(?:{_MONTHS})(?: \d{{1,2}})?,? )?\d{{4}})(?![\w–-])"
_AFTER = (  # what may follow a name: another word would belong to it
    r"(?=\s*(?:[.,;)]|$|(?:in|on|for|from|with|at|who|which|that|to|where|as|by|during|until|before|after|since|when|"
    r"but|starring|featuring)\b|and (?:[a-z]|\d)))"
)
_AREA = (
    r"(?:state|province|city|town|village|county|region|district|municipality|department|island|territory|canton|"
    r"parish|commune|suburb|borough|republic|part|(?:north|south|east|west|centr)\w*|center)"
)
_PLACE = rf"(?:the )?(?:(?:[a-z]+ )?{_AREA} of (?:the )?)*({_NAME}){_AFTER}"
_ROLE = rf"(?:the )?(?:(?:{_WORD}[ -])?(?:(?!{_INNER} |and |in |a |for )[a-z-]+ ){{1,4}})?"  # American country singer
_PEOPLE = rf"{_ROLE}({_NAME}(?:, {_NAME})*(?:,? and {_NAME})?){_AFTER}"
_VERBS = (
    r"(?:co-)?(?:written|directed|produced|composed|recorded|designed|painted|invented|discovered|developed|published|"
    r"founded|established|created|built|performed|sung|released|illustrated|edited|owned|operated|manufactured|"
    r"distributed|hosted|narrated|opened|completed|launched|formed|introduced|incorporated|constructed|located|"
    r"situated|based|headquartered|born|died|buried)"
)
_PARTICIPLES = re.compile(
    r"(?:,? and|,)?(?: (?:is|was|were|are|also|originally|first|officially|currently))* "
    rf"({_VERBS}(?:(?:, and|,| and) {_VERBS})*)(?= (?:in|on|at|by) )"
)
_COMPLEMENT = re.compile(rf" (?:(in|on) ({_DATE})|(?:in|at) {_PLACE}|by {_PEOPLE})")
_STOP = (
    r"(?:in|on|at|by|from|with|for|to|as|of|who|which|that|where|whose|when|during|since|until|near|about|within|"
    r"between)"
)
_PARTICIPLE = rf"(?:{_VERBS}|\w+ed|known|drawn|grown|shown|shot|set|held|best|well|now|still)"
_GERUND = (
    rf"(?:comprising|containing|covering|featuring|forming|including|requiring|starring|using"
    rf"|[a-z]+ing (?:an?|the|{_STOP}|[{_UPPER}]\w+))"
)
_NOUN = (  # matches as few words as possible before a sign that the noun ends
    rf"((?>(?:[\w'’&-]+ ){{0,8}}?[a-z][a-z'’-]+"
    rf"(?=[.;(]|$|,(?: [{_UPPER}\"]| (?:{_STOP}|{_PARTICIPLE}|{_GERUND}|and|an?|the)\b)| {_STOP}\b| {_GERUND}\b"
    rf"| {_VERBS}\b| {_PARTICIPLE} (?:{_STOP}|both|{_PARTICIPLE})\b| and (?:an?|the|is|was|one)\b)))"
)
_COPULA = re.compile(rf"(?:,| (?:is|was|are|were)(?: also| now| currently| originally)?) (an?|the) {_NOUN}")
_RELATED = re.compile(rf" (of|in|by) (?:{_PLACE}|{_PEOPLE})")
_APPOSITION = re.compile(rf"(?<!, )(?<!['’]s )(?<![\w.'’-])({_NAME}), an? {_NOUN}(?=[,.;]|$| who\b| which\b)")
_BRACKETS = re.compile(r"[\"”']* ?\(([^()]*(?:\([^()]*\)[^()]*)*)\)")
_ASIDE = re.compile(
    r",? (?:also |better |commonly |formerly |or )*(?:known|called|officially) [^,]{0,60}?,?(?= (?:is|was) )"
)
_BORN = re.compile(rf"Born (?:on ({_DATE}),? )?in {_PLACE}(?:, {_NAME})*, ({_NAME})")
_LIFE = re.compile(rf"(?:{_PLACE}, )?({_DATE})(?:(?: in|,) {_PLACE})?")
_BIRTH = re.compile(rf"born(?: {_NAME},?)?(?: on| in)? ({_DATE})(?:(?: in|,) {_PLACE})?")
_SPAN = re.compile(r"\s+-{1,2}\s+|\s*[–—]\s*")
_DOUBT = re.compile(
    r"\b(?:not|never|no|nor|neither|without|may|might|could|would|should|claimed|believed|thought|considered|regarded|rumou?red|unlikely|disputed)\b|n['’]t\b"
)
_CONDITION = re.compile(
    r"\b(?:if|unless|whether|suppose|supposing|assuming|perhaps|maybe|possibly|probably|allegedly|reportedly|supposedly)\b",
    re.IGNORECASE,
)  # one of these anywhere makes the whole sentence uncertain
_LISTS = word_lists("kgrag.indexing")
_ABSTRACT = _LISTS["abstract"]
_THINGS = re.compile(  # nouns for things that begin and end, but are not born
    r"\b(?:war|battle|siege|campaign|operation|expedition|dynasty|empire|kingdom|republic|state|band|group|era|season|"
    r"series|tournament|election|company|ship|strike|revolt|rebellion|crisis|conflict|festival|program(?:me)?|show|"
    r"newspaper|magazine|club|team|party|organi[sz]ation|school|album|film|railway|station|line|building)s?$"
)
_SETTLEMENTS = re.compile(
    r"\b(?:village|town|city|municipality|district|county|river|lake|mountain|community|commune|suburb|neighbou?rhood|"
    r"township|island|locality|hamlet|parish|province|settlement|school|college|university|museum|airport|station|"
    r"church|stadium|park|place|peak|valley|reservoir|glacier|borough|castle|hospital)$"
)
_PAIR = re.compile(r"[-*•]?\s*\**([^\W\d_][^\n:：.;,?!*]{1,40})\**\s*[:：]\**\s+(\S[^\n]*)")
_NO_KEYS = frozenset("note notes see example examples source sources image caption warning tip references".split())


def facts_by_rules(title: str, section: str, text: str, language: Language = ENGLISH) -> Extraction:
    """Return the facts that patterns find in a passage. Only key-value lines are read outside English."""
    reading = _Reading(title, language)
    if not section or normalise(section, language) == normalise(title, language):
        reading.pairs(text)
    if language is ENGLISH:
        for paragraph in text.splitlines():
            paragraph = re.sub(r" ?'' ?", '" ', paragraph.replace("``", '"'))
            for sentence in () if _PAIR.fullmatch(paragraph) else sentences(paragraph, language.code):
                reading.sentence(sentence)
    return reading.extraction()


def facts_of_table(rows: Sequence[Sequence[str]], text: str, language: Language = ENGLISH) -> Extraction:
    """Return the facts of the table rows that a passage holds. The first row names the columns.

    Subjects are the cells of the first column that holds distinct names. Each fact records its cell, such as "3:2" for
    the second column of the third row. A table without such a column gives no facts.
    """
    head, body = rows[0], rows[1:]
    key = next((i for i in range(len(head)) if _is_key([row[i] for row in body], language)), None)
    if key is None or len(body) < 2:  # a single row is trivially distinct
        return _extraction([], {})
    lines = set(text.split("\n"))
    triples = [
        CellTriple(row[key], head[column], cell, f"{number}:{column + 1}")
        for number, row in enumerate(body, 2)
        if row_text(head, row) in lines
        for column, cell in enumerate(row)
        if column != key and _names(head[column], language) and _says(cell, language)
    ]
    return _extraction(triples, {})


def table_rows(markdown: str) -> list[list[str]]:
    """Return the cells of a table in Markdown, the header first, as `Table.markdown` writes it."""
    lines = [line for line in markdown.splitlines() if line.startswith("| ")]
    cells = [[cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]
    return [row for row in cells if set(row) != {"---"}]


def _is_key(cells: Sequence[str], language: Language) -> bool:
    normals = {normalise(cell, language) for cell in cells}
    return len(normals) == len(cells) and all(_names(cell, language) for cell in cells)


def _names(cell: str, language: Language) -> bool:
    return len(cell) <= _LONGEST_VALUE and names_something(tokens(cell, language), language)


def _says(cell: str, language: Language) -> bool:
    return len(cell) <= _LONGEST_VALUE and normalise(cell, language) not in NONE


def _extraction(triples: list[Triple] | list[CellTriple], aliases: dict[str, set[str]]) -> Extraction:
    """Return triples as an Extraction. `aliases`: other names of subjects."""
    names = {triple.subject: None for triple in triples}
    names |= {triple.object: None for triple in triples if triple.object[:1].isupper()}
    entities = [NamedEntity(name=name, aliases=sorted(aliases.get(name, ()))) for name in names]
    return Extraction.model_construct(entities=entities, triples=list(triples))


class _Reading:
    """Reads the sentences of one passage in their order."""

    def __init__(self, title: str, language: Language) -> None:
        self.title = without_parenthesis(title) or title
        aliases = [] if title.startswith("List of") else title_aliases(title, "", language)
        self._normals = {alias.normal for alias in aliases}
        surfaces = sorted({alias.surface for alias in aliases}, key=lambda surface: (-len(surface), surface))
        own = "|".join(map(re.escape, surfaces))
        self._own = re.compile(rf"[\"“'`]*(?:The |the )?({own})(?!\w)(?:[\"”]|['’](?!s\b))*") if own else None
        self._language = language
        self._noun = ""  # the kind of thing that the title names: "film"
        self._person = False
        self._first = True
        self._pronoun = True  # whether a pronoun can only mean the title: all sentences so far are about it
        self._triples: dict[Triple, None] = {}
        self._aliases: dict[str, set[str]] = {}

    def extraction(self) -> Extraction:
        """Return the facts that the rules found."""
        return _extraction(list(self._triples), self._aliases)

    def pairs(self, text: str) -> None:
        """Read at least two consecutive lines such as "Capital: Oslo"."""
        run: list[Triple] = []
        for line in [*text.splitlines(), ""]:
            match = _PAIR.fullmatch(line.strip())
            if match and normalise(match[1]) not in _NO_KEYS and _says(match[2], self._language):
                run.append(Triple(self.title, match[1].strip(), match[2].strip(" *")))
                continue
            if len(run) > 1 and self.title:
                self._triples |= dict.fromkeys(run)
            run = []

    def sentence(self, sentence: str) -> None:
        """Read a sentence."""
        if sentence.endswith("?") or len(sentence) > _LONGEST_SENTENCE or _CONDITION.search(sentence):
            self._pronoun = False
            return
        for match in _APPOSITION.finditer(sentence):
            name, noun = match[1], match[2]
            if match.start() > 0 and " of " not in name and self._certain(sentence[: match.end()]) and _telling(noun):
                self._add(self.title if normalise(name) in self._normals else name, "is a", noun)
        born = _BORN.match(sentence)
        if born and (normalise(born[3]) in self._normals or (" " in self.title and self.title.endswith(f" {born[3]}"))):
            self._event("born", born[1], born[2])
        subject, place, own = self._subject(sentence)
        self._first = False
        if not subject:
            self._pronoun = False
            return
        rest = sentence[place:]
        brackets = _BRACKETS.match(rest)
        rest = rest[brackets.end() :] if brackets else rest
        aside = _ASIDE.match(rest)
        rest = rest[aside.end() :] if aside else rest
        end = self._clause(subject, rest, own)
        if brackets and own and self._certain(brackets[1]):
            self._life(brackets[1])
        self._pronoun = self._pronoun and own and end > 0

    def _subject(self, sentence: str) -> tuple[str, int, bool]:
        """Return the name that a sentence begins with, where it ends, and whether it is the title's."""
        own = self._own.match(sentence) if self._own else None
        if self._noun:
            pronoun = re.match(r"(?:He|She)\b" if self._person else r"It\b", sentence) if self._pronoun else None
            if same := pronoun or re.match(rf"(?:The|This) {re.escape(self._noun)}\b", sentence):
                return self.title, same.end(), True
        if own and (len(own[1]) > 2) and not re.match(rf"['’]s\b|,? and\b|(?: of)? [{_UPPER}]", sentence[own.end() :]):
            if own[1] != self.title:
                self._aliases.setdefault(self.title, set()).add(own[1])
            return self.title, own.end(), True
        match = re.match(rf"(?:The )?({_NAME})", sentence)
        last = self.title.rsplit(" ", 1)
        longer = match and self._first and set(self.title.split()) <= set(match[1].split())
        if match and longer and len(last) > 1 and match[1].endswith(f" {last[1]}"):  # a person's full name
            self._aliases.setdefault(self.title, set()).add(match[1])
            return self.title, match.end(), True
        if not match or " " not in match[1] or begins_sentence(match[1].split()[0].lower()):
            return "", 0, False
        return ("" if match[1].split()[0].lower() in ENGLISH.stop_words else match[1]), match.end(), False

    def _clause(self, subject: str, rest: str, own: bool) -> int:
        """Read the statement of a sentence about its subject. Returns its end, or 0 if no pattern matches."""
        place = 0
        copula = _COPULA.match(rest)
        if copula and self._certain(copula[0]):
            place = copula.end()
            noun = copula[2]
            related = _RELATED.match(rest, place)
            if copula[1] != "the" and _telling(noun) and not rest.startswith(" of ", place):
                self._add(subject, "is a", noun)
            if own and copula[1] != "the" and not self._noun:
                self._noun = noun.rsplit(" ", 1)[-1]
            if related:
                self._relation(subject, noun, copula[1], related)
                place = related.end()
        return self._participles(subject, rest, place)

    def _relation(self, subject: str, noun: str, article: str, related: re.Match[str]) -> None:
        """Add the relation after a noun: the capital of Norway, a town in Norway, a song by Bob Dylan."""
        preposition, area, people = related.groups()
        if preposition == "by":
            for name in _people(people or area):
                self._add(subject, f"{noun.rsplit(' ', 1)[-1]} by", name)
        elif area and preposition == "of":
            self._add(subject, f"is {article} {noun} of", area)
        elif area and article == "the":
            self._add(subject, f"is the {noun} in", area)
        elif area and _SETTLEMENTS.search(noun):
            self._add(subject, "located in", area)

    def _participles(self, subject: str, rest: str, place: int) -> int:
        """Read a chain of participles: "directed by Aparna Sen and released in 1989"."""
        while participles := _PARTICIPLES.match(rest, place):
            verbs = re.findall(_VERBS, participles[1])
            there = participles.end()
            while complement := _COMPLEMENT.match(rest, there):
                if not self._certain(rest[place : complement.end()]):
                    return place
                there = complement.end()
                preposition, date, area, people = complement.groups()
                word = preposition or ("in" if area else "by")
                for name in [date or area] if date or area else _people(people):
                    for verb in verbs:
                        self._add(subject, f"{verb} {word}", name)
            if there == participles.end():
                break
            place = there
        return place

    def _life(self, text: str) -> None:
        """Read the brackets behind a name: (22 July 1832 - 8 February 1921), (born 1950 in Oslo)."""
        birth = _BIRTH.search(text)
        spans = [part.strip() for part in _SPAN.split(text.rsplit(";", 1)[-1].strip())]
        sides = [_LIFE.fullmatch(part) for part in spans]
        if birth:
            self._event("born", birth[1], birth[2])
        elif len(sides) == 2 and all(sides) and self._noun and not _THINGS.search(self._noun):
            for verb, side in zip(("born", "died"), sides, strict=True):
                if side:
                    self._event(verb, side[2], side[1] or side[3])

    def _event(self, verb: str, date: str | None, area: str | None) -> None:
        self._person = True
        if date:
            self._add(self.title, f"{verb} on" if " " in date else f"{verb} in", date)
        if area:
            self._add(self.title, f"{verb} in", area)

    def _certain(self, text: str) -> bool:
        return _DOUBT.search(text) is None

    def _add(self, subject: str, predicate: str, object: str) -> None:
        if subject and normalise(subject) != normalise(object):
            self._triples.setdefault(Triple(subject, predicate, object))


def _telling(noun: str) -> bool:
    head = noun.rsplit(" ", 1)[-1]
    return head not in _ABSTRACT and not re.search(r"[^e]ed$|ly$", head)


def _people(names: str) -> Iterator[str]:
    firm = r"(?:Sons?|Daughters|Brothers|Bros|Partners|Associates|Company|Co)\b"  # follows a name
    return iter(re.split(rf",? and (?!{firm})|, (?!(?:Jr|Sr|Inc|Ltd|LLC|Co)\b)", names))
