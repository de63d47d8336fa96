"""What reflect's pages have decided, read back from their lines."""

from datetime import date

import pytest
from openclaw_memory.parsers.ledger import also_stated, confidence_now, held
from openclaw_memory.parsers.parse import parse_file
from openclaw_memory.parsers.records import Judgement

O1, O2, W1, W2 = "o-7f3a91c2d4e5", "o-0123456789ab", "w-1a1a1a1a1a1a", "w-2b2b2b2b2b2b"
PAGE = "bank/opinions.md"


def judged(body, path=PAGE, end="<!-- /openclaw-memory:opinions -->"):
    return parse_file(f"# x\n\n<!-- openclaw-memory:opinions v1 -->\n{body}\n{end}\n", path).judgements


def test_an_opinion_and_its_other_wordings():
    body = (
        f"- O(c=0.83) @Peter: Prefers short replies. ^{O1}\n"
        f"  - stated 0.80 on 2025-11-20, memory/2025-11-20.md#L14 · {confidence_now(0.83)} · last evidence 2025-12-02\n"
        f"  - {also_stated([('memory/2025-11-21.md#L3', O2), ('memory/2025-11-22.md#L3', O1)])}"
    )
    assert judged(body) == (Judgement(O1, 0.83, None, None, ""), Judgement(O2, 0.83, None, None, ""))


@pytest.mark.parametrize(
    ("first", "last", "successor", "retracted"),
    [
        (date(2025, 11, 20), date(2025, 11, 29), W2, False),
        (date(2025, 11, 20), date(2025, 11, 29), W2, True),
        (None, date(2025, 11, 29), "", False),
    ],
)
def test_what_held_once(first, last, successor, retracted):
    line = f"- Lives in Lisbon. {held(first, last, 'memory/2025-11-20.md#L5', W1, successor, retracted)}"
    assert judged(line) == (Judgement(W1, None, first, last, successor),)


def test_only_in_our_own_blocks_of_bank_pages():
    line = f"- Lives in Lisbon. {held(None, date(2025, 11, 29), 'memory/2025-11-20.md#L5', W1, W2, False)}"
    assert judged(line)
    assert judged(line, "memory/2025-11-30.md") == ()
    assert parse_file(line, PAGE).judgements == ()
    assert judged(f"```\n{line}\n```", end="")


def test_impossible_days_and_numbers_say_nothing():
    assert judged(f"- x (until 2025-13-40, a.md#L1, ^{W1})") == ()
    assert judged(f"- O @P: x ^{O1}\n  - now 1.50") == ()
    assert judged("- O @P: x\n  - now 0.50") == ()
