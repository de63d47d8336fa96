"""Words as verdicts compare them: folded, contractions opened, endings off, the words that say nothing left out.

Stems only have to be equal for forms of one word; they need not be words. English endings follow the first steps of
Porter (1980); elsewhere a short list of endings, and for Turkish the first five letters (Can et al. 2008), do.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache

from ...bank.embeddings.wordpiece import words
from ...parsers.scripts import characters, has_unspaced, runs
from ...recall.inflections import other_forms
from ...recall.stopwords import ENGLISH, cut_unspaced, language_of, stop_words

_CONTRACTIONS = (
    (re.compile(r"\b(can)(?:['’]?t|not)\b|\b(wo)n['’]t\b|\b(sha)n['’]t\b", re.IGNORECASE), "can not"),
    (re.compile(r"n['’]t\b", re.IGNORECASE), " not"),
    (re.compile(r"['’](?:s|re|ve|ll|d|m)\b", re.IGNORECASE), " "),
)
#: Words that stand in most statements whatever they are about.
_COMMON = frozenset(
    "really quite rather pretty simply actually usually always often generally mostly typically normally regularly"
    " totally absolutely definitely certainly clearly again still already ever even just also too very much so"
    " thing things way lot lots kind sort one ones something somebody somewhere someone everything".split()
)
_SHORTEST = 3
_TURKISH_LETTERS = 5
_ENDINGS = {
    "de": ("ungen", "ern", "est", "ung", "en", "er", "em", "es", "et", "st", "e", "n", "s", "t"),
    "es": ("aciones", "amente", "ando", "iendo", "ados", "adas", "idos", "idas", "acion", "ado", "ada", "ido", "ida",
           "mente", "es", "as", "os", "an", "en", "ar", "er", "ir", "a", "o", "e", "s"),
    "fr": ("ement", "ations", "ation", "ees", "ent", "er", "es", "ee", "ez", "e", "s"),
    "it": ("amente", "azioni", "azione", "are", "ere", "ire", "ano", "ono", "i", "e", "a", "o"),
    "pt": ("amente", "acoes", "acao", "ando", "endo", "ar", "er", "ir", "es", "as", "os", "a", "o", "e", "s"),
    "nl": ("heden", "heid", "ingen", "ing", "en", "er", "es", "e", "s", "t", "n"),
}  # fmt: skip
_ARABIC = re.compile("[\u0600-\u06ff]")
_ARABIC_FRONT = re.compile("^(?:[وفبلك]?ال|لل|[وف](?=.{3}))")
_ARABIC_BACK = re.compile("(?:ها|هم|نا|ون|ين|ات|ان|ية|ة|ه|ي)$")


def opened(text: str) -> str:
    """A text with its contractions written out: "can't" as "can not", "she's" as "she"."""
    if "'" not in text and "’" not in text and "cannot" not in text.casefold():
        return text
    for pattern, written in _CONTRACTIONS:
        text = pattern.sub(written, text)
    return text


@lru_cache(maxsize=20_000)
def folded(text: str) -> tuple[str, ...]:
    """The words of a text in order, lower-case and without accents; marks of punctuation are left out, scripts without
    spaces come as single characters."""
    found: list[str] = []
    for word in words(opened(text)):
        if not any(map(str.isalnum, word)):
            continue
        if len(word) > 1 and has_unspaced(word):
            found += characters(word) or [word]
        else:
            found.append(word)
    return tuple(found)


@lru_cache(maxsize=20_000)
def language(text: str) -> str:
    """Which language's endings and function words to expect: en, de, es, fr, it, pt, tr, nl, ar, or zh for any script
    without spaces."""
    if not text.isascii():
        if has_unspaced(text):
            return "zh"
        if _ARABIC.search(text):
            return "ar"
    # Words of questions carry their accents in recall's lists, and here none.
    return language_of(frozenset(folded(text)) | frozenset(text.casefold().split()))


@lru_cache(maxsize=50_000)
def stem(word: str, language: str = "en") -> str:
    """What forms of one folded word share."""
    if len(word) <= _SHORTEST or word.isdigit():
        return word
    if language == "en":
        return _english(word)
    if language == "tr":
        return word[:_TURKISH_LETTERS]
    if language == "ar":
        short = _ARABIC_BACK.sub("", _ARABIC_FRONT.sub("", word))
        return short if len(short) >= _SHORTEST - 1 else word
    for ending in _ENDINGS.get(language, ()):
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST:
            return word[: -len(ending)]
    return word


def _english(word: str) -> str:
    word = _base_forms().get(word, word)
    for ending, written in (("ies", "y"), ("sses", "ss"), ("shes", "sh"), ("ches", "ch"), ("xes", "x"), ("zes", "z")):
        if word.endswith(ending) and len(word) > len(ending) + 1:
            word = word[: -len(ending)] + written
            break
    else:
        if word.endswith("s") and not word.endswith(("ss", "us", "is")):
            word = word[:-1]
    for ending in ("fulness", "iness", "edly", "ingly", "ness", "ing", "ed", "ily", "ly"):
        left = word[: -len(ending)]
        if word.endswith(ending) and len(left) >= _SHORTEST and any(vowel in left for vowel in "aeiouy"):
            word = left
            if ending in ("ing", "ed") and left[-1] == left[-2] and left[-1] not in "lsz":
                word = left[:-1]
            break
    if word.endswith("y") and len(word) > _SHORTEST:
        return word[:-1] + "i"
    return word[:-1] if word.endswith("e") and len(word) > _SHORTEST else word


@cache
def _base_forms() -> dict[str, str]:
    """Irregular forms of English words to the shortest-first of their group, as ``recall.inflections`` lists them."""
    found: dict[str, str] = {}
    for word in _IRREGULAR.split():
        for form in other_forms(word):
            found[form] = word
    return found


_IRREGULAR = (
    "bite blow break bring build burn buy catch choose dig draw drink drive eat fall feed fight find fly forget forgive"
    " freeze give grow hear hide learn lend lose meet pay ride ring run sell send sew shake shoot sing sink sit sleep"
    " speak spend steal stick strike swear swim teach tear throw wake wear win write child foot goose man mouse person"
    " tooth woman"
)


@cache
def silent_words(language: str) -> frozenset[str]:
    """Folded words of a language that say nothing about what a statement is about."""
    listed = (*(_ARABIC_SILENT.split() if language == "ar" else stop_words(language)), *ENGLISH)
    return frozenset(part for word in listed for part in words(word)) | _COMMON


_ARABIC_SILENT = "في من على عن إلى الى مع أن ان إن أو ما هذا هذه ذلك التي الذي كان كانت هو هي قد ثم كل بعد قبل"


@lru_cache(maxsize=20_000)
def content_words(text: str) -> frozenset[str]:
    """Stems of the words of a text that say something, for comparing texts by the words that they share; of scripts
    without spaces the single characters between function words."""
    spoken = language(text)
    if spoken == "zh":
        text = " ".join(" ".join(cut_unspaced(run)) if unspaced else run for run, unspaced in runs(text))
    silent = silent_words(spoken)
    return frozenset(stem(word, spoken) for word in folded(text) if word not in silent)
