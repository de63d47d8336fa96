"""What the words of a sentence tell of its worth for a memory: signs of what lasts, of what is open, and of mere talk.

Closed lists of English, German and Chinese words; no list tells of a particular workspace. Verbs have a module of their
own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable


def _words(words: str) -> str:
    return "|".join(sorted(words.split(), key=lambda word: (-len(word), word)))


#: Questions, wishes, plans, orders, suppositions, reported speech.
UNSURE = re.compile(
    r"\b(?:"
    + _words(
        "if whether maybe perhaps probably possibly presumably apparently might could would should shall wonder"
        " wonders wondering wondered hope hopes hoping hoped wish wishes want wants wanted suppose supposed unless"
        " imagine guess seems seemed likely unclear unknown tbd pending awaiting waiting planned"
        " wenn falls ob vielleicht wahrscheinlich vermutlich eventuell könnte könnten würde"
        " würden sollte sollten möchte möchten hoffentlich bitte wohl geplant"
    )
    + r")\b|\blet['’]?s\b|\blet\s+us\b|\bplease\b|\b(?:need|needs|have|has|ought)\s+to\s+(?!be\b)"
    r"|(?-i:\bmay\b)|\bmust\s+(?:remember|not\s+forget)\b|\bI['’]d\b|\bwe['’]d\b|\bgoing\s+to\b|\bthinking\s+(?:of|about)\b"
    r"|如果|也许|可能|希望|应该|建议|要是",
    re.IGNORECASE,
)
REPORTED = re.compile(
    r"\b(?:"
    + _words(
        "said says say told tells tell claims claimed joked jokes asked asks ask replied answered shouted swears"
        " swore insists suggested suggests proposes proposed meint meinte sagt sagte fragt fragte schreibt schrieb"
        " behauptet promises complained laughs laughed according angeblich"
    )
    + r")\b|说|问",
    re.IGNORECASE,
)
CHATTER = re.compile(
    r"\b(?:lol|haha\w*|ha\s+ha|hehe|lmao|rofl|omg|wtf|sigh|ugh|meh|yay|jokes?|joking|kidding|love\s+to\s+all|sends?\s+\w+"
    r"\s+love|kisses|hugs)\b|[:;]-?[)D(P]|[\U0001F600-\U0001F64F\U0001F923]|\b(?:weather|wetter)\b"
    r"|\A\W*(?:it|es)\s+(?:was\s+|is\s+|war\s+|ist\s+)?(?:\w+\s+)?(?:rain|snow|drizzl|cold|warm|hot|regne|schnei|kalt|heiß"
    r"|windy|sunny|grey|foggy)\w*",
    re.IGNORECASE,
)
#: Labels and first words that make a line an order or an open point.
ORDER = re.compile(
    r"\W*(?:todo|to[\s-]do|fixme|action(?:\s+items?)?|open(?:\s+question)?|question|idea|next(?:\s+steps?)?|follow[\s-]?up"
    r"|pending|waiting|blocked|plan|goal|target|focus|priority"
    r"|reminder|remember|nb|offen|frage|aufgabe|待办|问题)\s*[:：-]"
    r"|\W*(?:"
    + _words(
        "add ask attempt avoid book bring build buy call change check clean configure consider contact continue create"
        " decide delete deploy disable do don't email enable ensure experiment explore find finish fix follow get give"
        " go help implement improve inform ignore install investigate keep learn look mail make merge migrate monitor"
        " move must notify order pay phone pick ping plan prepare read remember remind remove rename replace reply"
        " research restart return review rotate run schedule see send set speak start stop switch take talk tell test"
        " track try update upgrade use verify wait watch write never always"
    )
    + r")\s+(?!is\b|was\b|I\b|with\b)",
    re.IGNORECASE,
)
ORDER_SECTION = re.compile(
    r"\b(?:to[\s-]?dos?|tasks?|backlog|ideas?|questions?|wish(?:list|es)?|shopping|recipe|agenda|action\s+items?|aufgaben"
    r"|einkauf\w*|ideen|fragen|offen|still\s+open|next\s+steps|rezept|dreams?)\b|待办|问题",
    re.IGNORECASE,
)
CREDENTIAL = re.compile(
    r"\b(?:password|passwd|passwort|kennwort|passphrase|api[\s_-]?key|secret|token|pin|otp)\b\s*(?:is|ist|for|für|:|=)"
    r"|密码",
    re.IGNORECASE,
)
#: A run of letters and digits so long that it may be a key.
TOKEN = re.compile(r"(?<![\w-])(?=[A-Za-z_]*\d)(?=[\d_]*[A-Za-z])\w{24,}")
#: "Host: fern, User: pi": keys and values, not a sentence.
PAIRS = re.compile(r"(?:\A|[,;|]\s*)\W*\w[\w ]{0,20}:\s[^:]*[,;|]\s*\w[\w ]{0,20}:\s")
#: Marks of source text and of logs that machines write.
CODE = re.compile(r"[{};]\s*$|=>|\(\)|==|::|^\s*[$>#]\s|^\w+\[\d+\]:|\A\S+://\S+\Z|</\w+>")

#: Adjectives and adverbs of the moment: "is tired" tells of an hour.
PASSING = re.compile(
    r"\b(?:is|are|was|were|ist|sind|war)\s+(?:\w+\s+)?(?:"
    + _words(
        "tired happy sad late early here back busy sorry hungry funny bored broken down offline online stuck"
        " nervous angry quiet silent asleep awake"
        " cold wet great nice good bad fine okay ok cute lovely amazing awful right wrong sure ready flaky there proud"
        " surprised relieved excited müde froh spät da hungrig lustig kaputt krumm toll schön laut"
    )
    + r")\b[\s,.!]*(?:again|today|heute|wieder|too)?[\s.!]*(?:$|,|and\b|but\b|[-–—])"
    r"|\b(?:not|nicht)\s+(?:responding|working|running|reachable|ready|erreichbar)\b|\b(?:un)?responsive\b|(?:\band|\bnow|,)\s+ready\b"
    r"|\b(?:over\s+the\s+moon|in\s+a\s+(?:good|bad)\s+mood)\b"
    r"|\b(?:works?|worked|runs?|ran|going|goes|went|läuft|lief|funktioniert|klappt)\s+(?:\w+\s+)?"
    r"(?:well|fine|great|nicely|smoothly|gut|prima|super|wieder)\b\s*[.!]*$",
    re.IGNORECASE,
)
#: A number with what it counts, a day, a version, money: what one looks up later.
FIGURE = re.compile(
    r"[€$£¥%]|\d\s?(?:euros?|eur|usd|gbp|pounds?|dollars?|francs?|chf|yen|kg|g|km|cm|mm|m|l|litres?|liters?|gb|mb|tb|kb|mbit"
    r"|kwh|kwp?|ms|hours?|minutes?|days?|weeks?|months?|years?|percent|prozent|stunden|minuten|tage|wochen|monate|jahre)\b"
    r"|\bv?\d+\.\d+(?:\.\d+)?\b|\b(?:19|20)\d\d\b|\b(?:port|box|no\.|nr\.|version|floor|hall|room|number)\s#?\d"
    r"|\b\d{1,2}[.]?\s(?:jan|feb|mär|mar|apr|mai|may|jun|jul|aug|sep|okt|oct|nov|dez|dec)\w*"
    r"|\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?\s\d{1,2}\b|\d[\d.,]{3,}",
    re.IGNORECASE,
)
#: A number or a day of some kind.
TIME = re.compile(
    r"\d|\b(?:mon|tues|wednes|thurs|fri|satur|sun)day|\b(?:january|february|march|april|june|july|august|september"
    r"|october|november|december|januar|februar|märz|mai|juni|juli|oktober|dezember|since|until|seit|bis|"
    r"(?:mon|diens|donners|frei|sams|sonn)tags?|mittwochs?)\b|每周|每天|[一二三四五六七八九十百千]+年",
    re.IGNORECASE,
)
#: An object that stands somewhere else: "turned it down", "ordered two, to be safe".
DANGLING = re.compile(
    r"\s*\w*\s+(?:\w+\s+)?(?:for\s+|against\s+|with\s+|at\s+|behind\s+)?(?:it|him|them)\b"
    r"|\s*\w+\s+(?:one|two|three|four|some|several|more|another|both|none|eins|zwei|drei|welche)\s*(?:[,.;!]|$)",
    re.IGNORECASE,
)
SOMEBODY_ELSE = re.compile(r"\b(?:him|them|ihn|ihm|ihnen)\b", re.IGNORECASE)
#: A box that is not ticked, or a sign of what is still to be done, before the words of an entry.
OPEN_BOX = re.compile(r"\s*(?:\[[ \-~>/?!]?\]|[☐⬜⏳⌛🔄🚧🔜📋])")
_ENGLISH = frozenset("the a of to and is was are has with by from she he it his her for at on".split())
_GERMAN = frozenset(
    "der die das und ist war nicht ein eine einen mit für von auf im wird hat bei zu den dem sich auch ich nach seit ab"
    " bis wurde um habe".split()
)


def is_english(words: Iterable[str]) -> bool:
    """Whether words (casefolded) hold more of the little words of English than of German."""
    told = list(words)
    return sum(word in _ENGLISH for word in told) > 2 * sum(word in _GERMAN for word in told)


FIRST_PERSON = frozenset("i we ich wir".split())
FIRST_PERSON_UNSPACED = re.compile(r"\A\W*(?:今天|昨天|后来)?我们?(?!的)")
PRONOUNS = re.compile(r"\W*(?:(?:she|he|it|sie|er|es)\b|[她他它](?!们))", re.IGNORECASE)
VAGUE_START = re.compile(
    r"\W*(?:they|this|that|these|those|which|who|there|dies\w*|das|daher|such)\b|\W*(?:她们|他们|它们|这|那)",
    re.IGNORECASE,
)
LIKES = (
    "likes loves hates prefers dislikes thinks believes enjoys favours favors detests adores considers mag liebt"
    " hasst findet bevorzugt glaubt"
)
#: Right after a name: "really prefers", "does not like", "喜欢".
LIKING = re.compile(
    rf"\s*(?:(?:really|also|still|always|now|much|auch|gern|immer)\s+){{0,2}}(?:(?:{_words(LIKES)})\b"
    r"(?!\s+(?:of|about|so|(?:that\s+)?(?:it|this|they|them|him))\b)|(?:does\s+not|doesn['’]t|can['’]t|cannot)\s+(?:like|stand|believe|think|bear)\b)"
    r"|(?:很|最|也|不|还|特别)?(?:喜欢|讨厌|认为|觉得|爱)",
    re.IGNORECASE,
)
STATES_UNSPACED = re.compile("[是在有住叫负不用从来当]|加入|成为")


def is_german(words: Iterable[str]) -> bool:
    """Whether words (casefolded) hold more of the little words of German than of English."""
    told = list(words)
    return sum(word in _GERMAN for word in told) > sum(word in _ENGLISH for word in told)
