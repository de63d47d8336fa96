"""What a language model is asked about a pair, the form of its answer, and when an answer counts.

The model labels, the rule computes. An answer without a quote that stands in the newer text is thrown away.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .records import Claim

#: The other relations, and what stands for "it changes nothing".
STANCES = ("neutral", "supports", "contradicts")
SUCCESSIONS = ("coexists", "supersedes", "duplicate", "older_late")
STRENGTHS = ("weak", "normal", "strong")
_STANCE = (
    "Does the newer line count as evidence that the opinion still holds (supports), that it does not (contradicts), or"
    " neither (neutral)? Another person's view, another topic, a question, a plan or an earlier time is neutral."
)
_SUCCESSION = (
    "What does the newer fact do to the older one: takes its place (supersedes), says the same (duplicate), stands"
    " beside it (coexists), or tells of a time before it (older_late)?"
)


def schema(relations: Sequence[str]) -> dict[str, Any]:
    """The JSON schema of an answer; the reasoning comes first, so that the label follows from it."""
    return {
        "type": "object",
        "properties": {
            "reasoning": {"type": "string", "maxLength": 400},
            "same_question": {"type": "boolean"},
            "relation": {"enum": list(relations)},
            "strength": {"enum": list(STRENGTHS)},
            "quotes": {"type": "array", "items": {"type": "string", "maxLength": 200}, "minItems": 1, "maxItems": 3},
        },
        "required": ["reasoning", "same_question", "relation", "strength", "quotes"],
        "additionalProperties": False,
    }


def messages(task: str, old: Claim, new: Claim) -> list[dict[str, str]]:
    """The conversation that asks for a verdict. ``task``: stance or succession."""
    about = ", ".join(new.entities or old.entities) or "nobody in particular"
    question = _STANCE if task == "stance" else _SUCCESSION
    system = (
        f"You label pairs of notes about {about}. {question} First reason in one or two sentences. same_question:"
        " whether both are about the same thing. quotes: the words of the newer note that decide, copied exactly."
        ' Answer in JSON: {"reasoning", "same_question", "relation", "strength", "quotes"}.'
    )
    name = "Opinion" if task == "stance" else "Older fact"
    days = [f" ({one.day.isoformat()})" if one.day else "" for one in (old, new)]
    return [
        {"role": "system", "content": system},
        {"role": "user", "content": f"{name}{days[0]}: {old.text}\nNewer{days[1]}: {new.text}"},
    ]


def read_answer(answer: Any, relations: Sequence[str], old: Claim, new: Claim) -> Mapping[str, Any] | None:
    """An answer that counts, or None: of the right form, with quotes that stand in the texts."""
    if not isinstance(answer, dict) or answer.get("relation") not in relations:
        return None
    if not isinstance(answer.get("same_question"), bool) or answer.get("strength") not in STRENGTHS:
        return None
    quotes = answer.get("quotes")
    if not isinstance(quotes, list) or not quotes:
        return None
    texts = [_plain(one.text) for one in (old, new)]
    told = [_plain(one) for one in quotes if isinstance(one, str)]
    if len(told) != len(quotes) or not all(one and any(one in text for text in texts) for one in told):
        return None
    return answer if any(one in texts[1] for one in told) else None


def _plain(text: str) -> str:
    return " ".join(text.casefold().split()).strip(" .\"'“”")
