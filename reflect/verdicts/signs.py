"""Words that turn, like, bound or count: small tables by language, as stems see them (folded, without accents).

What is not listed is a word like any other. The tables are short on purpose: longer ones were measured and did not
carry over to sentences that their author had not read (see ``docs/beliefs-quality.md``).
"""

from __future__ import annotations

import re
from functools import cache

from .wordforms import stem

_NEGATORS = {
    "en": "not no never none nobody nothing neither nor without hardly barely scarcely rarely seldom cannot",
    "de": "nicht kein keine keinen keinem keiner keines nie niemals nichts niemand weder ohne kaum selten nirgends",
    "es": "no nunca jamas nadie nada ningun ninguno ninguna tampoco sin apenas ni",
    "tr": "degil yok hic hicbir asla olmadan olmaz istemez sevmez etmez yapmaz",
    "fr": "ne pas jamais aucun aucune rien personne sans guere",
    "it": "non mai nessuno nessuna niente nulla senza",
    "pt": "nao nunca jamais ninguem nada nenhum nenhuma sem",
    "nl": "niet geen nooit niemand niets zonder nauwelijks",
    "ar": "لا لم لن ليس ليست غير بدون دون ما",
    "zh": "不 没 無 无 未 别 勿 非 莫",
}
_LIKING = {
    "en": "prefer preference like love enjoy want favour favor appreciate adore fond keen happy glad wish rather"
    " favourite favorite choose welcome insist value rate",
    "de": "mag moegen lieber liebt liebe bevorzugt bevorzuge will moechte gern gerne schaetzt wuenscht geniesst mog",
    "es": "prefiere prefiero gusta gustan encanta encantan quiere quiero adora disfruta ama",
    "tr": "sever seviyor tercih ister istiyor begenir bayilir hoslanir",
    "fr": "prefere aime adore veut apprecie",
    "it": "preferisce ama piace vuole adora",
    "pt": "prefere gosta adora quer ama",
    "nl": "liever houdt wil graag geniet",
    "ar": "يفضل تفضل يحب تحب يريد تريد",
    "zh": "",
}
_DISLIKING = {
    "en": "dislike hate detest loathe avoid refuse despise resent reject distrust",
    "de": "hasst hasse verabscheut meidet vermeidet lehnt ungern",
    "es": "odia odio detesta evita rechaza",
    "tr": "nefret sevmez kacinir istemez",
    "fr": "deteste hait evite refuse",
    "it": "odia detesta evita rifiuta",
    "pt": "odeia detesta evita recusa",
    "nl": "haat vermijdt weigert",
    "ar": "يكره تكره يرفض ترفض يتجنب تتجنب",
    "zh": "",
}
_CHINESE_SIGNS = re.compile("(?P<bad>讨厌|討厭|反感|拒绝|厌恶)|(?P<good>喜欢|喜歡|偏好|爱|愛|想要|宁愿|更愿意)")
#: Adjectives of liking that need their negator read with them: "can't stand", "can not bear".
_CANNOT_BEAR = re.compile(r"\b(?:can not|could not) (?:stand|bear|abide|stomach)\b", re.IGNORECASE)
_NUMBERS = {
    word: str(number)
    for number, listed in enumerate(
        """zero null cero sifir|one ein eins uno bir|two zwei dos iki twice|three drei tres uc|four vier cuatro dort
        |five funf cinco bes|six sechs seis alti|seven sieben siete yedi|eight acht ocho sekiz|nine neun nueve dokuz
        |ten zehn diez on|eleven elf once|twelve zwolf doce dozen""".split("|")
    )
    for word in listed.split()
} | {"fifteen": "15", "twenty": "20", "thirty": "30", "forty": "40", "fifty": "50", "hundred": "100", "half": "1/2"}
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
#: English ``once``, Turkish ``on`` and German ``acht`` are other words elsewhere.
_NUMBER_ONLY_IN = {"once": "es", "on": "tr", "one": "", "ein": "", "eins": "de", "uno": "", "bir": "", "null": "de"}
#: Words that bound when or where a statement holds, by stem.
_SCOPES = {
    "en": "monday tuesday wednesday thursday friday saturday sunday weekend weekday january february march april may"
    " june july august september october november december morning noon midday afternoon evening night midnight tonight"
    " spring summer autumn winter holiday vacation christmas easter work home office school abroad indoors outdoors"
    " public private only except unless before after until during while sometimes occasionally if without outside"
    " inside against alone together",
    "de": "montag dienstag mittwoch donnerstag freitag samstag sonntag wochenende werktag morgen morgens mittag"
    " nachmittag abend abends nacht nachts fruhling sommer herbst winter urlaub arbeit zuhause hause buro schule nur"
    " ausser vor nach manchmal wenn montags dienstags mittwochs donnerstags freitags samstags sonntags",
    "es": "lunes martes miercoles jueves viernes sabado domingo manana tarde noche verano invierno trabajo casa oficina"
    " escuela solo excepto salvo antes despues veces",
    "tr": "pazartesi sali carsamba persembe cuma cumartesi pazar sabah ogle aksam gece yaz kis is ev evde isyerinde"
    " ofis okul sadece yalnizca haric once sonra bazen hafta",
}


@cache
def _table(name: str, language: str) -> frozenset[str]:
    tables = {"no": _NEGATORS, "like": _LIKING, "dislike": _DISLIKING, "scope": _SCOPES}
    own = tables[name].get(language, "").split()
    return frozenset(stem(word, language) for word in own) | frozenset(own)


def is_negator(word: str, language: str) -> bool:
    """Whether a folded word turns what it touches."""
    return word in _table("no", language) or (language != "en" and word in ("not", "never"))


def liking(word: str, language: str) -> int:
    """1 for a folded word of liking or wanting, -1 for one of disliking or avoiding, else 0."""
    root = stem(word, language)
    return (root in _table("like", language)) - (root in _table("dislike", language))


def bounds(word: str, language: str) -> bool:
    """Whether a folded word says when, where or how far a statement holds."""
    return word in _table("scope", language) or stem(word, language) in _table("scope", language)


def number(word: str, language: str) -> str | None:
    """The digits of a folded number word; None for any other word."""
    if word[:1].isdigit():
        return word
    only = _NUMBER_ONLY_IN.get(word)
    if language == "en" and word in _ORDINALS:
        return f"{_ORDINALS.index(word) + 1}th"
    return _NUMBERS.get(word) if only is None or only == language else None


def chinese_sign(text: str) -> int:
    """1, -1 or 0 for what a Chinese text says about liking, before its negators."""
    found = _CHINESE_SIGNS.search(text)
    return 0 if not found else (-1 if found["bad"] else 1)


def without_chinese_sign(text: str) -> str:
    return _CHINESE_SIGNS.sub("", text)


def bear_opened(text: str) -> str:
    """ "can not stand" and the like as one word of disliking."""
    return _CANNOT_BEAR.sub("dislikes", text)
