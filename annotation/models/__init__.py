"""Judgements by people: studies, raters, units and votes."""

from annotation.models.studies import Arm, Guideline, Rater, Study, arm_name
from annotation.models.units import (
    Assignment,
    AssignmentQuerySet,
    Draft,
    Exposure,
    Skip,
    Target,
    Unit,
    UnitPassage,
    UnitTarget,
)
from annotation.models.votes import Flag, GoldAnswer, Vote, VoteChange

__all__ = [
    "Arm",
    "Assignment",
    "AssignmentQuerySet",
    "Draft",
    "Exposure",
    "Flag",
    "GoldAnswer",
    "Guideline",
    "Rater",
    "Skip",
    "Study",
    "Target",
    "Unit",
    "UnitPassage",
    "UnitTarget",
    "Vote",
    "VoteChange",
    "arm_name",
]
