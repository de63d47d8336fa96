"""Words of a question that say nothing about its answer, by language: asking words, articles, pronouns, auxiliaries.

English always counts; one further language counts when more of the question's words are its own than are English, so
that German ``die`` is not dropped from an English question.
"""

from __future__ import annotations

import re

ENGLISH = frozenset(
    """
    a about again all also am an and any anyone anything are as at be been being but by can could d did do does
    doing done each else ever everything for from get got had happen happened happens has have having he her
    here hers him his how i if in into is it its just know let like likely ll m many may me might mine more most
    much must my no nor not now of off on once only or other our ours out over own please re remember s said say
    says shall she should so some someone something still such t tell than that the their theirs them then there
    these they this those though through to too under until up us ve very was we were what whats when where
    which while who whom whos whose why will with would yes yet you your yours
    """.split()
)
_OTHERS = {
    "de": """
    aber als am an auch auf aus bei bin bis bist da dann das dass dem den der des die dir doch du ein eine einem
    einen einer eines er es für gab geschah gibt haben hat hatte hatten ich ihr ihre im in ins ist kann man mein
    meine mich mir mit nach nicht noch nun nur ob oder schon sein seine sich sie sind so über um und uns unser
    unsere vom von vor wann war waren warum was welche welcher welches wem wen wenn wer werden wie wieder wir
    wird wo woher wohin wurde zu zum zur
    """,
    "es": """
    al ante como con cual cuales cuando cuanto cuanta cuantos cuantas de del desde donde dónde cuándo cómo cuál
    cuánto cuánta cuántos cuántas el ella ellos en entre era es esa ese eso esta está este esto fue ha han hay
    la las le les lo los me mi mis muy no nos o para pero por porque qué que quien quién se ser si sin sobre son
    su sus te tiene tu un una y ya yo
    """,
    "fr": """
    à au aux avec ce ces cette comment dans de des du elle en est et était être eu il ils je la le les leur lui
    mais me mes mon ne nous on ont où ou par pas pour pourquoi qu quand que quel quelle quelles quels qui sa se
    ses son sont sur ta te tu un une vous y a
    """,
    "it": """
    a ad al alla anche che chi ci come con cosa cui da dal dalla dei del della di dove e è ha hanno ho i il in
    io la le lo ma mi mio non o per perché più qual quale quali quando quanto quanti se si sono su sul sulla tu
    un una uno era
    """,
    "pt": """
    a ao aos as com como da das de do dos e é ela ele em era eu foi há isso isto já lhe mas me meu minha muito
    na nas não no nos o onde os ou para pela pelo por porque qual quais quando quanto quantos que quem se sem
    ser seu sua são também te tem um uma você
    """,
    "tr": """
    acaba ama ben bir biz bu çok da daha de defa değil diye en gibi hangi hangisi hani hem için ile ise kaç
    kadar ki kim kime kimin mi mı mu mü nasıl ne neden nerede nereden nereye niçin niye o olan oldu olarak onun
    sen siz şey şu ve veya var ya yok ye
    """,
    "nl": """
    aan als bij dat de den der die dit een en er haar had heb heeft het hij hoe hun ik in is je kan maar me men
    met mijn naar niet nog nu of om ons ook op over te tot u uit van veel voor waar waarom wanneer want waren
    was wat we wel welke werd wie wij ze zich zij zijn zo
    """,
}
#: Asking and function words of scripts without spaces; they are cut out of a run before it is split.
_UNSPACED = (
    "什么时候|为什么|什麼時候|為什麼|什么|什麼|怎么样|怎么|怎麼|多少|哪里|哪儿|哪個|哪个|哪些|哪天|谁的|是谁|谁|誰|哪|吗|嗎|呢|吧|的|了|是"
    "|在|和|有|几|请问|告诉|我们|他们|你们|关于"
    "|どこ|いつ|なに|なぜ|どう|どの|どれ|だれ|何時|ですか|ますか|でした|ました|です|ます|は|が|を|に|の|と|で|も|へ|か|何"
    "|무엇|언제|어디|누구|어떻게|왜|입니까|습니까|인가요|나요"
)


def language_of(given: frozenset[str]) -> str:
    """The language whose function words a question's case-folded words hold most of; ``en`` where none has more."""
    best, most = "en", len(given & ENGLISH)
    for language, listed in _OTHERS.items():
        own = len(given & set(listed.split()))
        if own > most:
            best, most = language, own
    return best


def stop_words(language: str) -> frozenset[str]:
    """The words to drop from a question in a language (see ``language_of``)."""
    return ENGLISH | frozenset(_OTHERS.get(language, "").split())


def cut_unspaced(run: str) -> list[str]:
    """The stretches of an unspaced run between its asking and function words; the whole run where nothing is left."""
    return [part for part in re.split(_UNSPACED, run) if part] or [run]
