"""Forms of English verbs that no stemmer brings together: questions ask with the base form, logs tell in the past."""

#: Words that say something by themselves; of the commonest verbs (go, make, take, see, …) any form tells little.
_FORMS = """
bite bit bitten|blow blew blown|break broke broken|bring brought|build built|burn burnt|buy bought|catch caught
choose chose chosen|dig dug|draw drew drawn|drink drank drunk|drive drove driven|eat ate eaten|fall fell fallen
feed fed|fight fought|find found|fly flew flown|forget forgot forgotten|forgive forgave forgiven|freeze froze frozen
give gave given|grow grew grown|hear heard|hide hid hidden|learn learnt|lend lent|lose lost|meet met|pay paid
ride rode ridden|ring rang rung|rise rose risen|run ran|sell sold|send sent|sew sewn|shake shook shaken|shoot shot
sing sang sung|sink sank sunk|sit sat|sleep slept|speak spoke spoken|spend spent|steal stole stolen|stick stuck
strike struck|swear swore sworn|swim swam swum|teach taught|tear tore torn|throw threw thrown|wake woke woken
wear wore worn|win won|write wrote written|child children|foot feet|goose geese|man men|mouse mice|person people
tooth teeth|woman women
"""


def other_forms(word: str) -> list[str]:
    """The other forms of a case-folded English word with irregular ones; [] for any other word."""
    for group in _FORMS.replace("\n", "|").split("|"):
        forms = group.split()
        if word in forms:
            return [form for form in forms if form != word]
    return []
