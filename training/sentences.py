"""Short sentences as people ask and note them: questions and statements put together from frames and words.

WordNet's own text has no questions, no names and next to no "I", "she" or "last week"; a table that is trained on it
alone does not learn how little such words say. The sentences need not be true or sensible: what each word adds to the
meaning is what the table learns from them, and a random combination shows it best.
"""

import random
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path


def _split(text: str) -> list[str]:
    return [" ".join(part.split()) for part in text.split(" / ")]


#: In a frame, a name in braces stands for one of these, or for a word of WordNet's: ``noun``, ``verb`` (and its
#: ``past`` and ``gerund``), ``adj``, ``adv``.
WORDS = {
    "name": _split(
        """Anna / Ben / Carlos / Chloe / Daniel / David / Emma / Fatima / George / Hannah / Ivan / Jack / Jane
        / John / Julia / Karim / Kate / Laura / Leo / Li / Lucas / Maria / Mark / Mia / Michael / Nina /
        Noah / Olga / Omar / Paul / Priya / Rosa / Sam / Sarah / Sofia / Tom / Yuki / Zoe / Alex / Wei /
        Aisha / Diego / Ingrid / Kofi / Lena / Victor / Amy / Rachel"""
    ),
    "person": _split(
        """her sister / his brother / my mother / their father / our boss / the doctor / her husband / his wife
        / the kids / my partner / our neighbour / the customer / a friend / her colleague / the team / the
        teacher / my grandmother / his uncle / the lawyer / the manager / their daughter / her son / the
        client / the plumber / the dentist / our cat / the dog / the baby / a stranger / the police / the
        company / her boyfriend / his girlfriend / my cousin / the developer / the students / the guests /
        the nurse / the band / my aunt"""
    ),
    "who": _split("""I / you / he / she / we / they / I / he / she / we / they"""),
    "whom": _split("""me / him / her / us / them / you"""),
    "whose": _split("""my / your / his / her / our / their"""),
    "when": _split(
        """yesterday / today / tomorrow / last week / next month / on Monday / on Friday / in March / in
        October / this morning / tonight / at the weekend / last summer / in 2024 / on 12 May / two days ago
        / every day / next year / at 9:30 / before Christmas / recently / by the end of the month / in the
        evening / after work / for three weeks / since January / once a year"""
    ),
    "place": _split(
        """home / work / school / the office / the kitchen / the garden / the hospital / the station / the
        airport / the park / the beach / town / Berlin / Paris / Lisbon / London / Tokyo / Spain / India /
        Canada / the basement / the cloud / the server / the supermarket / the gym / the library / a
        restaurant / the mountains / the lake / the church / the bank / the museum / the car / the drawer /
        the attic"""
    ),
    "number": _split(
        """2 / 3 / 4 / 5 / 7 / 10 / 12 / 15 / 20 / 25 / 30 / 40 / 50 / 80 / 100 / 250 / 500 / 1,200 / 3,000"""
    ),
    "unit": _split(
        """euros / dollars / minutes / hours / days / weeks / months / years / kilometres / times / people /
        percent / GB / pieces / grams"""
    ),
    "be": _split("""is / was / are / were / will be / has been / is not / can be / should be"""),
    "may": _split(
        """can / could / should / must / will / would / may / cannot / should not / does not / did not / wants
        to / has to / likes to / used to"""
    ),
    "feel": _split(
        """likes / loves / hates / prefers / enjoys / fears / avoids / wants / needs / misses / believes in /
        is tired of / is proud of / is worried about / is happy with / dislikes / recommends / cannot stand
        / looks forward to / is bored by"""
    ),
    "ask": _split(
        """What / Which / Who / Where / When / Why / How / How much / How many / How often / How long / Whose /
        Since when / With whom"""
    ),
}
QUESTIONS = _split(
    """
    What {noun} did {person} {verb} {when}? / Where is {whose} {noun}? / Who {past} the {noun}? / When did
    {name} {verb} the {noun}? / Why was the {noun} {past}? / What does {name} think of {noun}? / Which {noun}
    {may} {person} {verb}? / How much {noun} {may} {who} {verb}? / Is the {noun} {adj}? / What happened to the
    {adj} {noun}? / Whose {noun} was {past} at {place}? / When should {who} {verb} {whose} {noun}? / What is
    {person} going to {verb} {when}? / Where did {who} {verb} the {noun} and the {noun}? / How many {noun}s
    {be} in {place}? / Who told {whom} about the {noun}? / Which {adj} {noun} {be} {past}? / What made {name}
    {adj}? / Does {person} {verb} {noun} or {noun}? / {ask} did {person} {verb} at {place}? / How long has
    {name} {past} the {noun}? / What kind of {noun} {feel} {noun}? / {ask} {be} the {noun} {past}? / At what
    hour {may} {who} {verb} the {noun}? / Can {who} still {verb} it? / What is {name}'s {noun} called? / Why
    does {who} no longer {verb} {noun}? / For whom {be} the {noun}? / Did {name} {verb} the {noun} {adv}? /
    What is the {noun} of the {noun}? / Are there any {adj} {noun}s in {place}? / What are the {adj} {noun}s
    for?
    """
)
STATEMENTS = _split(
    """
    {name} {past} the {noun} {when}. / {who} {past} {whose} {noun} in {place}. / The {noun} {be} {adj}. /
    {person} {feel} {noun}. / {name} {feel} {gerund} {when} / {who} {may} {verb} the {noun} {when} / {noun}
    costs {number} {unit} / The {noun} was {past} by {person}, {who} {past} it {adv}. / {verb} the {noun}
    before {when} / Met {name} at {place}; talked about {noun} and {noun}. / {name}: {who} {past} a {adj}
    {noun} {when}! / {name} and {person} went to {place} to {verb} {noun}. / {gerund} the {noun} took {number}
    {unit} / {noun} {noun} {past}: {adj} {noun} / fixed the {noun} by {gerund} the {noun} / Do not {verb} the
    {noun}, it {be} {adj} / {whose} {noun} {past} because the {noun} was {adj}. / {name} is a {adj} {noun}
    from {place}. / {person} said that {who} {may} {verb} {noun}. / I {feel} {noun}, but {noun} {be} {adj}. /
    {when} {name} {past} {number} {noun}s / Decided to {verb} the {noun} instead of {gerund} it. / The {adj}
    {noun} is kept in {place}. / {name} works as a {noun} at {place}. / {name}'s {noun} is {adj} and {adj} /
    {who} bought a {adj} {noun} for {person} / {noun}: {adj} {noun}, {noun} and {noun} / {who} {past} {adv}
    {when}. / Hey {name}! {who} just {past} the {noun}, it {be} so {adj}! / Thanks, {name}! {gerund} {noun}
    makes {whom} {adj}. / Wow, that {noun} sounds {adj}! How was the {noun}?
    """
)
_VOWELS = "aeiou"


class Writer:
    """Writes sentences with WordNet's words, each as often as the root of its count in the sense-tagged texts.

    ``folder``: WordNet's data files; ``seed``: the same one writes the same sentences.
    """

    def __init__(self, folder: Path, seed: int) -> None:
        self._random = random.Random(seed)
        counts: dict[str, Counter[str]] = {part: Counter() for part in "1234"}
        for line in (folder / "cntlist.rev").read_text("utf-8").splitlines():
            key, _, count = line.split()
            lemma, part = key.split("%")[0], key.split("%")[1][0].replace("5", "3")
            if re.fullmatch("[a-z]{2,}", lemma):
                counts[part][lemma] += int(count)
        self._irregular = _irregular(folder / "verb.exc")
        self._lists: dict[str, tuple[Sequence[str], Sequence[float] | None]] = {
            name: (list(counts[part]), [count**0.5 for count in counts[part].values()])
            for name, part in (("noun", "1"), ("verb", "2"), ("adj", "3"), ("adv", "4"))
        }
        self._lists |= {name: (words, None) for name, words in WORDS.items()}

    def write(self, count: int) -> list[str]:
        """``count`` sentences, half of them questions."""
        written = []
        for number in range(count):
            text = re.sub(r"\{(\w+)\}", self._fill, self._random.choice((QUESTIONS, STATEMENTS)[number % 2]))
            written.append(text[0].upper() + text[1:])
        return written

    def _fill(self, match: re.Match[str]) -> str:
        name = match[1]
        words, weights = self._lists["verb" if name in ("past", "gerund") else name]
        word = self._random.choices(words, weights)[0]
        if name == "past":
            return self._irregular.get(word) or _ending(word, "ed")
        return _ending(word, "ing") if name == "gerund" else word


def _irregular(path: Path) -> dict[str, str]:
    """Verb to its irregular past form: the last listed that ends neither in "ing" nor in "s"."""
    forms = {}
    for line in path.read_text("utf-8").splitlines():
        form, verb = line.split()[:2]
        if not form.endswith(("ing", "s")):
            forms[verb] = form
    return forms


def _ending(verb: str, ending: str) -> str:
    if verb.endswith("e"):
        return verb[:-1] + ending
    if ending == "ed" and verb.endswith("y") and verb[-2] not in _VOWELS:
        return f"{verb[:-1]}ied"
    return verb + ending
