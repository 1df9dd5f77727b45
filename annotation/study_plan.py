"""The choices of a researcher about a study before it opens, each declared once."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, NamedTuple

from annotation.models import Arm, Study
from annotation.schemes import Scheme
from generation.choices.declaration import Choice
from generation.evidence import EvidenceChoice
from generation.limits import LARGEST_SEED
from generation.models import Dataset, Setup

LAYOUT, ORDER, MIXING = Study.MergedLayout, Study.ResponseOrder, Study.Mixing
TEXT = Study.TextFormat


class StudyPlan(NamedTuple):
    """A study before it opens. Choices that are not made have the usual values."""

    name: str
    dataset: Dataset
    scheme: Mapping[str, Any]
    setups: Sequence[Setup]
    arms: Sequence[str] = (Arm.Kind.SEPARATE,)
    n_sampled: Annotated[
        int | None,
        Choice(
            "Sample",
            help="How many dialogs the seed draws. All their examples are rated. For a scheme "
            "about citations: how many sentence-citation pairs of each model.",
            low=1,
            usual="all",
        ),
    ] = None
    evidence_choice: Annotated[
        str,
        Choice(
            "Evidence",
            {
                EvidenceChoice.SHOWN.value: "Shown",
                EvidenceChoice.GOLDEN.value: "Golden",
                EvidenceChoice.RETRIEVED.value: "Retrieved",
            },
            explained={
                EvidenceChoice.SHOWN.value: "What the model was given. If the scheme needs "
                "evidence, a response made without it is not rated. It counts as not attributable.",
                EvidenceChoice.GOLDEN.value: "The example's golden passages, or the sub-graphs of "
                "its golden entities, whatever the model was given.",
                EvidenceChoice.RETRIEVED.value: "What a search (BM25) finds in the dataset's "
                "passages for the dialog and the response. Responses are merged only if "
                "the search finds the same for them.",
            },
        ),
    ] = EvidenceChoice.SHOWN.value
    raters_per_unit: Annotated[
        int,
        Choice(
            "Raters per unit",
            help="An odd number, so that there is a majority.",
            low=1,
            high=99,
            usual="5, or 2 for citations",
        ),
    ] = 5
    merged_layout: Annotated[
        str,
        Choice(
            "Merged layout",
            {LAYOUT.SIDE_BY_SIDE.value: "Side by side", LAYOUT.IN_TURN.value: "In turn"},
            explained={
                LAYOUT.SIDE_BY_SIDE.value: "One table: each question is for all responses.",
                LAYOUT.IN_TURN.value: "One response in full, then the next, under one dialog.",
            },
        ),
    ] = LAYOUT.SIDE_BY_SIDE.value
    response_order: Annotated[
        str,
        Choice(
            "Order of responses",
            {ORDER.RANDOM.value: "Random for each rater", ORDER.FIXED.value: "Fixed, by setup"},
            explained={
                ORDER.RANDOM.value: "No setup has an advantage by its position.",
                ORDER.FIXED.value: "The same for all raters, lowest temperature first. The effects "
                "of position and setup can then not be told apart, as in the published study of "
                "merged rating.",
            },
        ),
    ] = ORDER.RANDOM.value
    text_format: Annotated[
        str,
        Choice(
            "Texts",
            {TEXT.PLAIN.value: "Plain", TEXT.MARKDOWN.value: "Rendered Markdown"},
            explained={
                TEXT.PLAIN.value: "Responses and passages are shown as they are stored.",
                TEXT.MARKDOWN.value: "Lists, tables, bold words and links in responses and "
                "passages are shown as such. HTML is not, and images are not loaded. A response "
                "with links to rows of a graph stays plain.",
            },
        ),
    ] = TEXT.PLAIN.value
    mixing: Annotated[
        str,
        Choice(
            "Which rater gets which arm",
            {
                MIXING.ORDER.value: "Each rater in all arms",
                MIXING.RATERS.value: "Each rater in one arm",
            },
            explained={
                MIXING.ORDER.value: "In random order, with different examples in each arm.",
                MIXING.RATERS.value: "The seed divides the raters into equal groups, one "
                "for each arm.",
            },
        ),
    ] = MIXING.ORDER.value
    may_meet_both_arms: Annotated[
        bool,
        Choice(
            "A rater may judge one response alone and merged",
            help="This needs fewer raters. But the first judgement may affect the second. The two "
            "separate arms always have different raters.",
        ),
    ] = False
    seed: Annotated[
        int,
        Choice(
            "Seed",
            help="It fixes the sample, the orders and the groups, so that the study is "
            "reproducible.",
            low=0,
            high=LARGEST_SEED,
        ),
    ] = 13
    lease_minutes: Annotated[
        int,
        Choice(
            "Minutes that a unit stays reserved",
            help="A timer starts when a rater gets a unit, and restarts with each answer. When it "
            "runs out, the unit goes to the next rater.",
            low=1,
            high=24 * 60,
        ),
    ] = 30
    stops_when_decided: Annotated[
        bool,
        Choice(
            "Stop asking when the majority is decided",
            help="With five raters, this needs about a third fewer votes for the same majorities.",
        ),
    ] = False
    full_share: Annotated[
        float,
        Choice(
            "Share of the examples that still get all raters",
            help="Share of the examples that get all raters, even if others stop early. Only these "
            "examples count for agreement and rater scores.",
            low=0,
            high=1,
        ),
    ] = 0.25
    introduction: Annotated[
        str,
        Choice(
            "Introduction for raters",
            help="Raters read it before they begin: what the study is for, how long it takes, what "
            "it pays.",
            longest=5000,
        ),
    ] = ""


def usual_raters_per_unit(scheme: Scheme) -> int:
    """Return N for a study whose researcher does not choose it."""
    return 2 if scheme.target == "citation" else StudyPlan._field_defaults["raters_per_unit"]
