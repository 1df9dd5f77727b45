"""Rules that tell by the name of a column whether it holds runs, people, votes or none of these."""

from collections.abc import Iterable

from generation.importers.mapped.roles import (
    NAMES_OF_VOTES,
    PERHAPS_RATERS,
    RATERS,
    REMARKS,
    plain_name,
)

# The last words of names of what tells runs or rows apart, and not raters or their votes.
OF_RUNS = {"seed", "run", "trial", "repeat", "repetition", "temperature", "sample", "version"}
OF_RUNS |= {"index", "number", "id", "k", "split", "fold", "turn", "round", "batch"}
# The last words of names of other things that rows of raters say, and the first ones of names of
# what was made of several votes.
BESIDE_VOTES = {"order", "position", "rank", "clicks", "edits", "age", "confidence", "certainty"}
BESIDE_VOTES |= {"min", "mins", "sec", "secs", "spent"}
OF_NAMES = {"id", "name", "email", "code"}
OF_SEVERAL_VOTES = {"gold", "golden", "majority", "consensus", "mean", "average", "avg", "median"}
OF_SEVERAL_VOTES |= {"n", "num"}
ASKED = {"dimension", "aspect", "criterion", "criteria", "facet"}  # what a row's vote is about
NO_VOTES = OF_RUNS | BESIDE_VOTES | OF_NAMES | REMARKS | ASKED
OF_PEOPLE = {"who", "by", "subject", "person", "student", "turker", "crowdworker", "respondent"}
FEATURES = ("is_", "has_")  # how names of what a program found out may begin


def is_of_votes(column: str) -> bool:
    """Return whether a name has a word for votes or for people who rate."""
    words = {*plain_name(column).split("_")}
    return bool(words & (NAMES_OF_VOTES | OF_PEOPLE | {*RATERS, *PERHAPS_RATERS}))


def without_features(columns: Iterable[str]) -> list[str]:
    """Return the columns that may hold votes, as far as their names tell."""
    likely = (c for c in columns if not plain_name(c).startswith(FEATURES))
    return [c for c in likely if not is_no_vote(c)]


def is_of_runs(column: str) -> bool:
    """Return whether a name tells runs or rows apart."""
    return plain_name(column).rpartition("_")[2] in OF_RUNS


def is_no_vote(name: str) -> bool:
    """Return whether a name tells something else than votes."""
    words = plain_name(name).split("_")
    return words[0] in OF_SEVERAL_VOTES or words[-1] in NO_VOTES
