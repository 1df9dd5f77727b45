"""The words for the reasons why an entry is left out of a construction."""

from collections.abc import Mapping

from generation.models import ConstructionEntry

Problem = ConstructionEntry.Problem
PROBLEMS: Mapping[str, str] = {
    Problem.INCOMPLETE_NAME: "incomplete name",
    Problem.UNKNOWN_RELATION: "unknown relation",
    Problem.NOT_FOUND: "name not found",
    Problem.NOT_CONNECTED: "not connected",
    Problem.WRONG_RELATION: "another relation",
    Problem.AMBIGUOUS: "more than one pair",
}
