"""The pages of a study that show its stored figures: the answer first, then by subject."""

from typing import NamedTuple


class SubPage(NamedTuple):
    """A page of a study: its title, the name of its address, and what it draws."""

    title: str
    address: str  # the name of its address
    part: str  # the template of its contents
    charts: tuple[str, ...] = ()  # names in `evaluation.studies.pages.plots.CHARTS`
    needs_votes: bool = True
    has_weights: bool = False  # whether it allows for dialogs drawn with different probabilities


RESULTS = SubPage(
    "Results",
    "evaluation:study",
    "evaluation/studies/_results.html",
    ("answer", "scenarios"),
    has_weights=True,
)
MERGED = SubPage(
    "Merged against separate",
    "evaluation:study-merged",
    "evaluation/studies/_merged_page.html",
    ("shifts",),
)
RATERS = SubPage(
    "Agreement between raters",
    "evaluation:study-raters",
    "evaluation/studies/_raters_report.html",
)
METRICS = SubPage(
    "Human–auto agreement",
    "evaluation:study-metrics",
    "evaluation/studies/_metrics.html",
    ("accuracy", "roc", "calibration"),
    needs_votes=False,
)
METHODS = SubPage(
    "Methods",
    "evaluation:study-methods",
    "evaluation/studies/_methods.html",
    has_weights=True,
)
SUB_PAGES = (RESULTS, MERGED, RATERS, METRICS, METHODS)
