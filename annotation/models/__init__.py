"""Judgements by people: studies, raters, units and votes."""

from annotation.models.enquiries import Enquiry
from annotation.models.joining import (
    CrowdPlatform,
    Participant,
    QualificationAnswer,
    QualificationItem,
    StudyLink,
)
from annotation.models.studies import Arm, DrawnDialog, Guideline, Rater, Study, arm_name
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
    "CrowdPlatform",
    "Draft",
    "DrawnDialog",
    "Enquiry",
    "Exposure",
    "Flag",
    "GoldAnswer",
    "Guideline",
    "Participant",
    "QualificationAnswer",
    "QualificationItem",
    "Rater",
    "Skip",
    "Study",
    "StudyLink",
    "Target",
    "Unit",
    "UnitPassage",
    "UnitTarget",
    "Vote",
    "VoteChange",
    "arm_name",
]
