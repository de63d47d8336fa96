"""The words that speak of time, in nine languages, as small tables.

Every word has one class (a letter, see ``LATIN``) and a value. A rule of ``times`` is a pattern over those
letters, so that a rule serves all languages, and a new language is a new column here.
"""

from __future__ import annotations

Entry = tuple[str, object]

#: Twelve rows of month names, then of abbreviations; ``m`` and ``b``.
_MONTHS = """january januar jänner enero janeiro gennaio janvier ocak
february februar febrero fevereiro febbraio février fevrier şubat
march märz maerz marzo março mars mart
april abril aprile avril nisan
may mai mayo maio maggio mayıs
june juni junio junho giugno juin haziran
july juli julio julho luglio juillet temmuz
august agosto août aout ağustos
september septiembre setiembre setembro settembre septembre eylül
october oktober octubre outubro ottobre octobre ekim
november noviembre novembro novembre kasım
december dezember diciembre dezembro dicembre décembre decembre aralık"""
_SHORT_MONTHS = """jan janv ene
feb fev févr
mar mrz
apr abr avr

jun
jul juil
aug
sep sept
oct okt
nov
dec dez dic déc"""
#: Written small, these are ordinary words too: they need a day or a year beside them.
CAREFUL = frozenset(["may", "march", "mart", "mars", "mai"])
#: Abbreviations that are words elsewhere: read only as in ``5 set 2025``.
_DAY_FIRST = {"set": 9, "out": 10, "ago": 8, "gen": 1, "mag": 5, "giu": 6, "lug": 7, "ott": 10}

_WEEKDAYS = """monday montag lunes lundi lunedì pazartesi
tuesday dienstag martes mardi martedì salı
wednesday mittwoch miércoles mercredi mercoledì çarşamba
thursday donnerstag jueves jeudi giovedì perşembe
friday freitag viernes vendredi venerdì cuma
saturday samstag sonnabend sábado samedi sabato cumartesi
sunday sonntag domingo dimanche domenica pazar"""
_SHORT_WEEKDAYS = "mon tue,tues wed thu,thurs,thur fri sat sun"

_UNITS = {
    "minute": "minute minutes min mins minuten minuto minutos minuti dakika 分 分钟 分鐘 分間",
    "hour": "hour hours hr hrs stunde stunden hora horas ora ore heure heures saat 小时 小時 時間",
    "day": "day days tag tage tagen día días dia dias giorno giorni jour jours gün 天 日間",
    "week": "week weeks woche wochen semana semanas settimana settimane semaine semaines hafta 周 週 週間 星期 个星期",
    "weekend": "weekend weekends wochenende wochenenden",
    "month": "month months monat monate monaten mes meses mês mese mesi mois ay ayı ayında 个月 個月 ヶ月 か月 カ月",
    "year": "year years jahr jahre jahren jahres año años ano anos "
    "anno anni ans année années yıl yılı yılında sene 年間",
}
_SEASONS = (
    "winter invierno inverno hiver kış",
    "spring frühling frühjahr primavera printemps ilkbahar",
    "summer sommer verano verão estate été yaz",
    "autumn fall herbst otoño outono autunno automne sonbahar",
)
_NUMBERS = """one un una uno une um uma ein eine einem einer einen bir
two couple pair zwei dos dois duas due deux iki
three drei tres três tre trois üç
four vier cuatro quatro quattro quatre dört
five fünf cinco cinque cinq beş
six sechs seis sei altı
seven sieben siete sete sette yedi
eight acht ocho oito otto huit sekiz
nine neun nueve nove neuf dokuz
ten zehn diez dieci dix
eleven elf
twelve zwölf doce doze dodici douze"""
#: Values of these stand for "a few": two to six.
_FEW = "few several paar par unos unas alguns algumas qualche quelques birkaç 几 幾 数"

_RELATIVE: dict[tuple[str, int], str] = {
    ("day", -2): "vorgestern anteayer antier anteontem evvelsi 前天 一昨日 おととい",
    ("day", -1): "yesterday gestern ayer ontem ieri dün 昨天 昨日 昨晚 昨夜 きのう",
    ("day", 0): "today tonight heute hoy hoje oggi stasera bugün 今天 今日 今晚 今朝 今早 今夜 きょう",
    ("day", 1): "tomorrow morgen mañana amanhã domani demain yarın 明天 明日 あした",
    ("day", 2): "übermorgen dopodomani 后天 後天 明後日",
    ("week", -1): "上周 上週 上星期 上个星期 先週",
    ("week", 0): "本周 本週 这周 這週 这星期 这个星期 今週",
    ("week", 1): "下周 下週 下星期 下个星期 来週",
    ("weekend", -1): "上周末 上週末 先週末",
    ("weekend", 0): "本周末 这周末 今週末",
    ("weekend", 1): "下周末 来週末",
    ("month", -1): "上个月 上個月 上月 先月",
    ("month", 0): "本月 这个月 這個月 今月",
    ("month", 1): "下个月 下個月 来月",
    ("year", -2): "前年 一昨年",
    ("year", -1): "去年 昨年",
    ("year", 0): "今年",
    ("year", 1): "明年 来年",
}

#: Class letter -> value -> words. l, L: last, this, next (L may also follow its noun). B: past. G, g: ago,
#: after its number and before it. d: part of a day. e: early. p, P: prepositions of days.
LATIN: dict[str, dict[object, str]] = {
    "l": {
        -1: "last previous letzte letzten letzter letztes letztem "
        "vorige vorigen voriges vergangene vergangenen geçen son",
        0: "this diese diesen dieser dieses diesem bu",
        1: "next coming nächste nächsten nächster nächstes nächstem kommende kommenden kommendes gelecek önümüzdeki",
    },
    "L": {
        -1: "pasado pasada pasados pasadas último última últimos "
        "últimas passado passada scorso scorsa scorse scorsi "
        "ultimo ultima ultimi ultime dernier dernière derniers dernières passé passée",
        0: "este esta neste nesta questo questa ce cette cet",
        1: "próximo próxima próximos próximas viene vem prossimo prossima prossimi prochain prochaine prochains",
    },
    "B": {-1: "past"},
    "G": {-1: "ago atrás fa önce 前 之前 以前"},
    "g": {-1: "vor hace há faz"},
    "d": {
        0: "morning afternoon evening night abend nacht nachmittag mittag vormittag früh noche tarde matin soir nuit"
    },
    "h": {0: "st nd rd th er º ª"},
    "e": {
        0: "early mid late beginning end start anfang mitte "
        "ende principios mediados finales início meados fim "
        "inizio metà fine début fin"
    },
    "T": {0: "t z"},
    "c": {0: "pm uhr"},
    "W": {0: "am"},
    "a": {1: "a"},
    "N": {1: "an"},
    "i": {0: "in since during im seit nel dal desde depuis ab"},
    "I": {0: "en em"},
    "P": {
        -1: "before antes avant prima",
        0: "around about circa gegen hacia vers",
        1: "after nach après depois después dopo",
        3: "by",
    },
    "p": {3: "until till bis hasta até"},
    "E": {0: "on"},
    "f": {0: "from vom von del du"},
    "t": {1: "to through thru al au 至 到 から"},
    "z": {0: "between zwischen entre tra fra"},
    "&": {0: "and und y et ve"},
    "o": {0: "of de di do da d des"},
    "Z": {0: "the"},
    "D": {0: "la le el il los las les den der dem die das lo l as os"},
    "Q": {0: "que aujourd"},
    "q": {0: "ta te dan den tan ten nda nde"},
    "K": {0: "w"},
    "O": {("day", 0): "hui"},
    "Y": {0: "other"},
    "R": {0: "recently lately neulich kürzlich recientemente recentemente récemment geçenlerde"},
    "F": {0: "feira"},
    "V": {0: "segunda", 1: "terça", 2: "quarta", 3: "quinta", 4: "sexta"},
    "J": {"year": "年"},
    "U": {"month": "月"},
    "H": {"day": "日 号 號"},
    "C": {0: "点 點 時"},
}

#: "hier" is yesterday in French and here in German: the words around it decide.
_FRENCH = " le la les des une est nous vous je il elle avec pour dans sur et du au été ai avons soir matin "
_GERMAN = " der die das und ist nicht ein eine wir ich mit für auf den dem zu auch hat sind wird "


def is_french(words: list[str]) -> bool:
    """True when more of ``words`` (small letters) are French than German, and at least one is French."""
    french = sum(f" {word} " in _FRENCH for word in words)
    return french > sum(f" {word} " in _GERMAN for word in words)


def build_lexicon() -> dict[str, Entry]:
    """All words in small letters -> (class letter, value). The first table that has a word keeps it."""
    words: dict[str, Entry] = {}

    def add(letter: str, value: object, names: str) -> None:
        for name in names.replace(",", " ").split():
            words.setdefault(name, (letter, value))

    for number, row in enumerate(_MONTHS.split("\n"), 1):
        add("m", number, row)
    for number, row in enumerate(_SHORT_MONTHS.split("\n"), 1):
        add("b", number, row)
    for number, row in enumerate(_WEEKDAYS.split("\n")):
        add("w", number, row)
    for number, row in enumerate(_SHORT_WEEKDAYS.split()):
        add("v", number, row)
    for relative, row in _RELATIVE.items():
        add("r", relative, row)
    for unit, row in _UNITS.items():
        add("u", unit, row)
    for number, row in enumerate(_SEASONS):
        add("s", number, row)
    for number, row in enumerate(_NUMBERS.split("\n"), 1):
        add("1", number, row)
    add("1", 0, _FEW)
    for letter, table in LATIN.items():
        for value, row in table.items():
            add(letter, value, row)
    for name, number in _DAY_FIRST.items():
        words.setdefault(name, ("A", number))
    return words


#: Signs for numbers; a run of up to three of them reads as in 二十七.
CJK_DIGITS = {sign: number for number, sign in enumerate("一二三四五六七八九", 1)} | {
    "两": 2,
    "兩": 2,
    "十": 10,
}


def read_cjk_number(signs: str) -> int | None:
    """The value of one to three Chinese number signs: 三 -> 3, 十一 -> 11, 二十七 -> 27; else None."""
    tens, ten, ones = signs.rpartition("十")
    if len(tens) > 1 or len(ones) > 1:
        return None
    return (CJK_DIGITS[tens] if tens else 1) * (10 if ten else 0) + (CJK_DIGITS[ones] if ones else 0)


def cjk_weekday(signs: str) -> tuple[int | None, int, int] | None:
    """``(week, weekday, length)`` at the start of ``signs``: 上周五 -> (-1, 4, 3), 金曜日 -> (None, 4, 3)."""
    if signs[1:3] in ("曜日", "曜"):
        number = "月火水木金土日".find(signs[0])
        return (None, number, 3) if number >= 0 and signs[1:3] == "曜日" else None
    week = {"上": -1, "本": 0, "这": 0, "這": 0, "下": 1}.get(signs[:1])
    at = 0 if week is None else 1
    at += 1 if at and signs[at : at + 1] in ("个", "個") else 0
    for noun in ("星期", "周", "週", "礼拜"):
        if signs.startswith(noun, at):
            sign = signs[at + len(noun) : at + len(noun) + 1]
            number = "一二三四五六日天".find(sign) if sign else -1
            return (week, min(number, 6), at + len(noun) + 1) if number >= 0 else None
    return None
