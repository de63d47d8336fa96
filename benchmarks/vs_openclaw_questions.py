"""A workspace of 500 dated notes, and thirty questions about it: what each is to find, and which weakness it is about.

Everything is dated by the day on which it is written, since stock OpenClaw weighs notes by the machine's clock. The
weaknesses are those that ``tests/recall/test_shortfalls.py`` names: old facts, long notes, notes just written, other
languages, no provider, headings, exact identifiers; scores are looked at in every answer.
"""

from __future__ import annotations

import random
from datetime import date, timedelta
from pathlib import Path
from typing import NamedTuple

DAYS = 500
#: Days back of the notes that hold an answer of long ago: eleven months.
OLD = 335
_PEOPLE = "Mara Tomasz Elif Jonas Aiko Pavel Ines Ruben Lena Okan".split()
_WORK = (
    "{who} looked into the build of {what}; nothing to report yet.",
    "Stand-up with {who}: {what} is on its way, the rest next week.",
    "Reviewed the patch for {what} with {who}, two comments, both small.",
    "{who} asked about the invoice for {what}; forwarded it to the office.",
    "Moved the meeting about {what} to the afternoon, {who} could not come earlier.",
    "Read a long thread on {what}. {who} summed it up well.",
    "The dashboard of {what} was red for ten minutes, {who} restarted the worker.",
    "Lunch with {who}; talked about {what} and the holidays.",
)
_THINGS = "gannet heron-ui the parser|the mobile app|the quarterly report|the new office|the crawler|billing".split("|")
_FILLER = (
    "The morning went into small things: mail, two calls, a broken chair, and a long look at numbers that did not want"
    " to add up. After lunch the rain began and everybody stayed inside, which was good for the backlog."
)


class Question(NamedTuple):
    """``about``: the weakness. ``answer``: what a snippet has to hold. ``write``: (path, text) of a note that is
    written right before the question is asked."""

    about: str
    query: str
    answer: str
    write: tuple[str, str] | None = None


def _note(day: date, line: str, *, late: bool = False) -> tuple[date, str]:
    """A line in a day's note; ``late``: after more than 700 characters of the same section."""
    return day, (f"{_FILLER} {_FILLER} {_FILLER}\n\n{line}" if late else line)


def write_notes(root: Path, today: date) -> list[Question]:
    """Write the workspace; the questions about it."""
    rng = random.Random(20260101)
    placed: dict[date, list[str]] = {}
    questions: list[Question] = []

    def place(back: int, line: str, about: str, query: str, answer: str, late: bool = False) -> None:
        day, text = _note(today - timedelta(days=back), line, late=late)
        placed.setdefault(day, []).append(text)
        questions.append(Question(about, query, answer))

    for back, (line, query, answer) in enumerate(_OLD):
        place(OLD + back, line, "old fact", query, answer)
    for back, (line, query, answer) in enumerate(_LATE):
        place(40 + 7 * back, line, "long note", query, answer, late=True)
    for back, (line, query, answer) in enumerate(_LANGUAGES):
        place(20 + 5 * back, line, "other language", query, answer)
    for back, (line, query, answer) in enumerate(_EXACT):
        place(60 + 30 * back, line, "exact identifier", query, answer)
    for back, (line, query, answer) in enumerate(_RECENT):
        place(3 + back, line, "recent", query, answer)
    (root / "memory").mkdir(parents=True)
    for back in range(DAYS):
        day = today - timedelta(days=back)
        lines = [_sentence(rng) for _ in range(rng.randint(8, 16))]
        lines.insert(rng.randint(0, len(lines)), "\n\n".join(placed.get(day, [])))
        body = "\n".join(f"- {line}" if "\n" not in line else line for line in lines if line)
        (root / "memory" / f"{day.isoformat()}.md").write_text(f"# {day:%A}, {day.isoformat()}\n\n{body}\n", "utf-8")
    (root / "MEMORY.md").write_text(_CORE, encoding="utf-8")
    questions += [Question("heading", query, answer) for query, answer in _HEADINGS]
    questions += [
        Question("just written", query, answer, (f"memory/{today.isoformat()}-{number}.md", f"# Note\n\n- {line}\n"))
        for number, (line, query, answer) in enumerate(_WRITTEN)
    ]
    return questions


def _sentence(rng: random.Random) -> str:
    return rng.choice(_WORK).format(who=rng.choice(_PEOPLE), what=rng.choice(_THINGS))


#: (the line, the question, what the snippet has to hold)
_OLD = [
    (
        "The spare key of the boathouse hangs behind the green barometer.",
        "where is the spare key of the boathouse",
        "green barometer",
    ),
    ("The landlord of the workshop is called Henrik Aalto.", "who is the landlord of the workshop", "Henrik Aalto"),
    ("The car takes 5W-30 oil, 4.2 litres with the filter.", "which oil does the car take", "5W-30"),
    ("Grandmother's plum cake needs 180 degrees for 50 minutes.", "plum cake temperature", "180 degrees"),
    (
        "The alarm code of the archive was changed to the year of the flood.",
        "alarm code of the archive",
        "year of the flood",
    ),
]
_LATE = [
    (
        "The vet said that the cat may have no more than 40 grams of dry food a day.",
        "how much dry food may the cat have",
        "40 grams",
    ),
    (
        "The notary wants the deed in three copies, stapled on the left.",
        "how many copies of the deed does the notary want",
        "three copies",
    ),
    ("The roof window was ordered in anthracite, size MK06.", "size of the roof window", "MK06"),
    ("The choir sings the requiem in the cathedral of Lund in May.", "where does the choir sing the requiem", "Lund"),
]
_LANGUAGES = [
    ("王芳的猫叫豆包，三岁了。", "王芳的猫叫什么", "豆包"),
    ("新しい倉庫の鍵は佐藤さんが持っている。", "倉庫の鍵は誰が持っている", "佐藤"),
    ("Die Heizungsanlage im Keller wurde auf 62 Grad eingestellt.", "Auf wie viel Grad steht die Heizung", "62 Grad"),
    ("Wir haben die Fahrräder in den Schuppen gebracht.", "Wo steht das Fahrrad", "Schuppen"),
    ("De sleutels van het tuinhuis liggen bij buurvrouw Anneke.", "wie heeft de sleutel van het tuinhuis", "Anneke"),
]
_EXACT = [
    ("Deployed a828e60 to staging after the hotfix.", "a828e60", "staging"),
    ("Set GANNET_RETRY_MAX to 7 on all hosts.", "GANNET_RETRY_MAX", "to 7"),
    ("Ticket ZX-4417 is about the broken export.", "ZX-4417", "broken export"),
    ('The log said "sqlite-vec unavailable" on the old laptop.', "sqlite-vec unavailable", "old laptop"),
]
_RECENT = [
    ("The plumber comes on Thursday between eight and ten.", "when does the plumber come", "Thursday"),
    ("Ines won the chess tournament of the district.", "who won the chess tournament", "Ines"),
    ("The new coffee beans are from Huehuetenango.", "where are the coffee beans from", "Huehuetenango"),
]
_CORE = """# Memory

## Allergies
- Elif: hazelnuts and birch pollen.

## Passwords are kept
- In the blue notebook, second drawer.

## Preferred airlines
- Long distance: the one with the crane.
- Short distance: none, the train.

## Blood group
- A negative, see the card in the wallet.
"""
_HEADINGS = [
    ("allergies", "hazelnuts"),
    ("where are the passwords kept", "blue notebook"),
    ("preferred airline for long distance", "the crane"),
    ("what is the blood group", "A negative"),
]
_WRITTEN = [
    ("The courier left the parcel with the florist on the corner.", "where is the parcel", "florist"),
    ("The council approved the footbridge with nine votes to four.", "footbridge votes", "nine votes"),
]
#: Asked again after the configuration has been given a provider whose key is nowhere to be found.
NO_PROVIDER = [
    ("which oil does the car take", "5W-30"),
    ("who won the chess tournament", "Ines"),
    ("how many copies of the deed does the notary want", "three copies"),
]
