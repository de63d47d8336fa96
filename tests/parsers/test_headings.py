"""The titles that open a Retain section, and those that only look like it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openclaw_memory.parsers.headings import RETAIN_WORDS, is_retain_heading

OPENS = """
Retain
retain
RETAIN
ReTaIn
Retain:
Retain：
**Retain**
**Retain:**
**Retain**:
_Retain_
***Retain***
__Retain__
🧠 Retain
🧠Retain
Retain 🌙
📌 retain
2. Retain
2) Retain
2.Retain
2) Retain:
4.1 Retain
4.1. Retain
2️⃣ Retain
🗂️ 4. **Retain** (what must survive):
4. 🗂️ Retain
**🗂️ 4. Retain** [draft] 🌙:
👨‍👩‍👧 Retain
👍🏽 Retain
🇵🇹 Retain
ℹ️ Retain
Retain (facts)
Retain (facts (and more))
Retain (one) [two]
Retain（for next season）
Retain （mixed)
Retain【下次】
🧠 保留（长期）
保留
保留：
Retener
retener:
Mantieni
**Mantieni**
Reter
3. RETER
Retain <!-- project: boat -->
""".strip().splitlines()

OTHERS = """
Retained
Retained water
Retainer for the roof work
Retain flag on the message broker
Retain flag
Delight & Retain Customers
Attract & Retain Members
To retain or not
Retain-ish
Retain / Reflect
Retain: what I learned
Retain 2
2 Retain
(Retain)
[Retain](retain.md)
Retenir
保留地
不保留
Retain)
Retain (facts
Retain!
#Retain
`Retain`
Notes
()
:
**
🧠
2.
""".strip().splitlines()


@pytest.mark.parametrize("title", [*OPENS, "  Retain\t ", "\tRetain\u00a0", "\u3000保留\u3000", "\u200bRetain"])
def test_opens_a_section(title: str) -> None:
    assert is_retain_heading(title)


@pytest.mark.parametrize("title", [*OTHERS, "", " "])
def test_opens_no_section(title: str) -> None:
    assert not is_retain_heading(title)


ORNAMENTS = st.sampled_from(["🧠 ", "3. ", "4) ", "** ", "_", "🗂️", " "])
TAILS = st.sampled_from([" (x)", "（年）", ":", "：", "**", " 🌙", " [a b]", " "])


@given(st.lists(ORNAMENTS, max_size=5), st.sampled_from(sorted(RETAIN_WORDS)), st.lists(TAILS, max_size=5))
def test_ornaments_in_any_order(heads: list[str], word: str, tails: list[str]) -> None:
    assert is_retain_heading("".join(heads) + word.title() + "".join(tails))


@given(st.text(alphabet="retain保留 ()[]（）*_:.12🧠\ufe0f\u20e3<!->", max_size=40))
def test_any_text_gets_an_answer(title: str) -> None:
    assert is_retain_heading(title) in (True, False)


def test_a_very_long_title_is_quick() -> None:
    assert not is_retain_heading("retain " + "()" * 20_000 + "x")
    assert is_retain_heading("retain " + "()" * 2_000)
