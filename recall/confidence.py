"""Whether the first result is likely an answer, or only the best of what there is.

A question about nothing that is there gets results too: of a thousand notes one is always nearest. What tells them
apart is how much of what the question's signals could reach together the first result has (numbers are in
``docs/recall-quality.md``).
"""

#: The score of the first result from which on it is taken for an answer.
CLOSE = 0.45


def is_confident(score: float, strength: float, compared: bool, weighed: bool) -> bool | None:
    """``score``: the first result's, 0 to 1. ``strength``: how much of what the question's words could bring the best
    passage has. ``compared``: whether meanings were. ``weighed``: whether the words' worth is known; it is not in a
    language that lives by endings, where some of them stand nowhere as they are. None then."""
    if score < CLOSE or (not strength and not compared):
        return False
    return True if weighed else None
