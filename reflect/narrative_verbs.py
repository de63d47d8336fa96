"""The verbs of narrative: those that tell a state, an act or a turn, and those that tell nothing one asks for later.

Closed lists of English and German, and the forms of the past; no list tells of a particular workspace.
"""

from __future__ import annotations

import re

from .wording import PAST

#: Verbs of states that last.
STATES = frozenset(
    "lives works leads owns costs has had keeps needs runs uses weighs earns belongs listens takes holds has"
    " pays speaks teaches studies stays stands contains requires supports serves manages maintains rents"
    " drives drinks eats plays begins starts ends expires opens closes lasts includes means lies bears wears"
    " knows covers lacks measures accepts leaves joins moves retires lets turns becomes offers sells makes gets goes"
    " hosts exports imports returns replaces sleeps calls provides grows stores sends reads writes saves flies travels"
    " visits charges organises organizes succeeds inherits buys marries".split()
) | frozenset(
    "wohnt arbeitet leitet besitzt kostet hat hatte habe hatten gehört braucht läuft wiegt verdient heißt beginnt"
    " endet gilt kommt verlangt vermietet beträgt bleibt steht liegt nutzt fährt lebt studiert spricht trägt zahlt"
    " übernimmt bekommt wohnen leben arbeiten haben kosten verlangen gehören brauchen gelten liefert erzeugt"
    " verkauft kauft öffnet wechselt zieht heiratet unterrichtet lernt spielt dauert enthält misst"
    " verbraucht unterstützt speichert hält geht macht führt".split()
)
#: The same of several, which are nouns, too: verbs only right after their subject.
PLURAL_STATES = frozenset(
    "live work lead own cost have keep need run use belong take hold pay speak split share".split()
)
_BEFORE_PLURAL = frozenset("i we you they who all both now still also always never only each".split())
COPULA = frozenset("is are was were be been being isn't aren't ist sind war waren wird wurde wurden".split())
#: Acts and turns of which one wants to know later.
EVENTS = frozenset(
    "moved joined bought sold signed married retired graduated quit promoted hired appointed switched"
    " migrated replaced relocated renamed adopted inherited released shipped published deployed fixed repaired"
    " installed closed opened started began ended finished founded launched merged rolled upgraded downgraded"
    " cancelled canceled booked ordered paid lost won broke born died turned became received got gave lent"
    " borrowed stolen found rejected accepted approved declined agreed decided reversed announced confirmed"
    " passed failed filled vaccinated diagnosed measured restored removed added configured enabled disabled"
    " dropped refused rerouted surveyed hauled delivered transferred invested raised reduced increased cut"
    " left resigned arrived returned built wrote taught learned made set put took handed rented extended"
    " resolved rewrote refactored tested benchmarked documented scheduled registered enrolled crashed reviewed"
    " visited completed submitted archived exported imported converted rotated patched refunded swapped traded"
    " doubled tripled halved".split()
) | frozenset(
    "verkauft gekauft unterschrieben abgelehnt geheiratet gekündigt repariert umgezogen bestellt gefunden angefangen"
    " gewechselt bezahlt abgeschlossen geboren gestorben bekommen übernommen eingebaut beschlossen zog kaufte"
    " verkaufte wechselte bekam begann endete starb heiratete kündigte unterschrieb bestellte reparierte baute"
    " übernahm verließ gewann verlor fand gab schrieb eröffnete gründete zahlte bezahlte bestand".split()
)
#: Past forms that tell of nothing that one asks for later, unless a number or a day makes it matter.
TRIVIAL = frozenset(
    "called rang came went laughed smiled looked sat ate slept cried brought stood walked watched seemed felt"
    " sang ran talked spoke chatted thought heard saw woke waited played liked loved danced kam ging saß lachte"
    " schlief rief sah".split()
)
#: What happens to a thing by itself: the one who writes has not done it.
BY_ITSELF = frozenset("failed crashed broke died started stopped ended began passed expired".split())
#: Acts that are told with what they were done to.
WITH_OBJECT = re.compile(
    r"(?:added|removed|installed|deleted|inserted|posted|pushed|sent|put|moved|copied)\s+(?:to|from|in|into|on|as|for|with|by|at)\b",
    re.IGNORECASE,
)
#: Acts in two words.
PHRASES = re.compile(r"went\s+(?:out|live|down|up|back|into)\b|came\s+(?:back|out)\b", re.IGNORECASE)
_SEPARABLE = "ab|an|auf|aus|ein|fest|frei|her|hin|los|mit|nach|um|vor|weg|zu|zurück"
_FORM = re.compile(rf"[a-z]{{3,}}ed\Z|(?:{_SEPARABLE})?ge[a-zäöüß]{{3,}}(?:t|en)\Z")
_NO_VERBS = frozenset(
    "hundred naked wicked sacred indeed speed breed need embed unused shared related red supposed wanted"
    " asked called used gesamt gestern genau gegen gerade gewesen gut getrennt gemeinsam angenehm ungefähr".split()
)
_PRETERITE = re.compile(r"[a-zäöüß]{3,}te\Z")
_NO_PRETERITES = frozenset(
    "heute bitte letzte erste zweite dritte vierte fünfte sechste siebte achte neunte zehnte beste alte harte späte"
    " gute breite leichte rechte echte kalte bunte hätte könnte sollte möchte wollte musste durfte dachte meinte"
    " sagte fragte lachte weinte spielte guckte wartete".split()
)
#: Those after which a word in German is the verb, if it can be one.
_GERMAN_SUBJECTS = frozenset("ich er sie".split())


def is_past(word: str) -> bool:
    """Whether a word (casefolded) is the past of a verb, as far as its form tells."""
    return word in PAST or word in EVENTS or bool(_FORM.match(word) and word not in _NO_VERBS)


def is_plural_state(word: str, before: str, after_name: bool) -> bool:
    """Whether a word (casefolded) is the verb of several: "we need", "backups run", "Mara and Tomasz live"."""
    follows = after_name or before in _BEFORE_PLURAL or (len(before) > 3 and before.endswith("s"))
    return follows and word in PLURAL_STATES


def is_preterite(word: str, before: str, after_name: bool) -> bool:
    """Whether a word (casefolded) of a German sentence is the past of a weak verb: it has the form, and stands right
    after its subject (the word ``before``, or a name)."""
    return (after_name or before in _GERMAN_SUBJECTS) and bool(_PRETERITE.match(word)) and word not in _NO_PRETERITES
