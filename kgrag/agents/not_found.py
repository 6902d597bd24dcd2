"""How models say, in several languages, that the passages do not hold the answer."""

import re

_LONGEST = 500
"""Characters in which a model says it."""
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=\S)|\n")

_WORDINGS = re.compile(
    "|".join(
        (
            r"^\W*(the answer is )?not in the evidence\b",
            # English
            r"\b(passage|evidence|context|document|text|source)s?\b( \w+){0,3} (do|does|did)( not|n't)\b",
            r"\b(passage|evidence|context|document|text|source)s? (contain|give|hold|provide|have)s? (no|nothing)\b",
            r"\b(not|n't|cannot|no|nothing)\b.* (in|from|by) (any of )?(the|these|this)( \w+){0,2} "
            r"(passage|evidence|context|document|text|source)s?\b",
            r"\bno information\b|\bI (do not|don't|cannot|can't) (know|say|tell|answer|determine)\b",
            # German
            r"\b(passage|abschnitt|beleg|text|kontext|dokument|quelle)(e|n|en|es|s)?\b.* (nichts?|keine?n?)\b",
            r"\b(nichts?|keine?n?)\b.* (in|im|aus|zu|von) (den|dem|der|diesen|diesem)?( \w+)? ?"
            r"(passage|abschnitt|beleg|text|kontext|dokument|quelle)(e|n|en|es|s)?\b",
            r"\bkeine (angabe|information|antwort)(en)?\b|\bich (weiß|weiss) (es )?nicht\b",
            # French
            r"\b(passage|extrait|texte|document|contexte|preuve|source)s?\b ?(ne |n['’]).*\b(pas|aucune?|rien)\b",
            r"\b(pas|aucune?|rien)\b.* (dans|par|de) (les|le|ces|ce|la)( \w+)? "
            r"(passage|extrait|texte|document|contexte|preuve|source)s?\b",
            r"\baucune information\b|\bje ne sais pas\b",
            # Spanish
            r"\b(pasaje|fragmento|texto|documento|contexto|prueba|evidencia|fuente)s?\b no\b",
            r"\b(no|nada|ningún|ninguna)\b.* (en|de|por) (los|las|el|la|estos|estas)( \w+)? "
            r"(pasaje|fragmento|texto|documento|contexto|prueba|evidencia|fuente)s?\b",
            r"\b(no hay|ninguna) información\b|\bno lo sé\b",
        )
    ),
    re.IGNORECASE,
)
_IN_A_WORD = re.compile(
    r"\W*(unknown|none|n/?a|not (mentioned|stated|specified|given|found|known|available|provided)|"
    r"unbekannt|nicht (bekannt|genannt|angegeben)|inconnue?|non (mentionnée?|précisée?)|"
    r"desconocid[oa]|no (se menciona|especificad[oa]))\W*",
    re.IGNORECASE,
)


def says_not_found(text: str) -> bool:
    """Whether a reply says that the evidence does not hold the answer: its first sentence says so.

    Known in English, German, French and Spanish, and the sentence that the prompts ask for.
    """
    said = text.strip()
    first = _SENTENCE.split(said[:_LONGEST], maxsplit=1)[0]
    return bool(_WORDINGS.search(first) or _IN_A_WORD.fullmatch(said))
