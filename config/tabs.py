"""The tabs of a dataset and of a study: which page stands where, for the whole site."""

from collections.abc import Callable
from typing import Any, NamedTuple

from django import template
from django.http import HttpRequest
from django.template.context import RequestContext
from django.urls import reverse

from annotation.models import Study
from generation.models import Dataset, Entity

register = template.Library()

Subject = Dataset | Study


class TabPage(NamedTuple):
    """A page of a tab. The pages behind it are reached from it, and stand in the same tab."""

    title: str
    view: str
    behind: tuple[str, ...] = ()
    report: str = ""  # the report that the address names, where one view shows several


class Tab(NamedTuple):
    """A tab. It leads to the first of its pages that the dataset or study has."""

    title: str
    pages: tuple[TabPage, ...]


class Map(NamedTuple):
    """The tabs of a dataset or of a study, the list that it stands in, and its further actions."""

    of: str
    list_title: str
    list_view: str
    tabs: tuple[Tab, ...]
    more: str  # the template of what its menu offers
    archive_view: str


def _experiments() -> tuple[str, ...]:
    pages = ("experiment", "start-experiment", "score-experiment", "alignment-pairs")
    return tuple(f"graphs:{page}" for page in pages)


OF_DATASET = Map(
    "dataset",
    "Datasets",
    "generation:datasets",
    tabs=(
        Tab(
            "Browse",
            (
                TabPage(
                    "Examples", "generation:dataset", ("evaluation:example", "evaluation:response")
                ),
                TabPage("Prompts", "generation:first-prompts", ("generation:prompts",)),
            ),
        ),
        Tab(
            "Generate",
            (
                TabPage("Grids", "generation:grids", ("grids:grid", "grids:calls", "grids:call")),
                TabPage("Retrieval", "evaluation:retrieval", ("evaluation:missed-examples",)),
                TabPage("Recipe", "tradeoffs:recipe", ("tradeoffs:recipe-progress",)),
            ),
        ),
        Tab(
            "Score",
            (
                TabPage(
                    "Metric runs",
                    "evaluation:runs-of-dataset",
                    ("evaluation:run", "evaluation:run-failures", "evaluation:run-precision"),
                ),
            ),
        ),
        Tab(
            "Trade-off",
            (
                TabPage(
                    "Figure",
                    "tradeoffs:tradeoff",
                    (
                        "tradeoffs:takeaways",
                        "tradeoffs:comparable",
                        "tradeoffs:restricted",
                        "tradeoffs:reranking",
                        "tradeoffs:responses",
                    ),
                ),
            ),
        ),
        Tab(
            "Graph",
            (
                TabPage(
                    "Overview",
                    "graphs:graph",
                    ("graphs:entity", "graphs:statistics", "graphs:questions", "graphs:question"),
                ),
                TabPage("Ask", "graphs:ask"),
                TabPage(
                    "Citations",
                    "graphs:report",
                    ("graphs:report", "graphs:answers", "graphs:differences"),
                    report="citations",
                ),
                TabPage("Experiments", "graphs:experiments", _experiments()),
            ),
        ),
    ),
    more="generation/_more.html",
    archive_view="generation:archive",
)
OF_STUDY = Map(
    "study",
    "Studies",
    "annotation:studies",
    tabs=(
        Tab(
            "Results",
            (
                TabPage("Answer", "evaluation:study"),
                TabPage("Merged against separate", "evaluation:study-merged"),
                TabPage(
                    "All reports", "evaluation:reports-of-study", ("evaluation:report-of-study",)
                ),
            ),
        ),
        Tab(
            "Raters",
            (
                TabPage(
                    "Progress",
                    "annotation:study-setup",
                    (
                        "annotation:change-state",
                        "annotation:add-raters",
                        "annotation:take-out-rater",
                    ),
                ),
                TabPage("Agreement", "evaluation:study-raters"),
                TabPage(
                    "Quality",
                    "evaluation:rater-quality",
                    ("evaluation:rater-of-study", "annotation:exclude-rater"),
                ),
                TabPage(
                    "Link",
                    "annotation:study-link",
                    (
                        "annotation:study-platform",
                        "annotation:study-qualification",
                        "annotation:payments",
                        "annotation:reject-submission",
                    ),
                ),
            ),
        ),
        Tab(
            "Metrics",
            (
                TabPage("Human–auto agreement", "evaluation:study-metrics"),
                TabPage("Threshold choice", "evaluation:threshold-choice"),
            ),
        ),
        Tab(
            "Cases",
            (
                TabPage("Disagreements", "evaluation:disagreements", ("evaluation:disagreement",)),
                TabPage("Gold items", "annotation:gold", ("evaluation:adjudicated-gold",)),
                TabPage("Skipped and flagged", "annotation:skipped-and-flagged"),
                TabPage("Questions of raters", "annotation:enquiries"),
            ),
        ),
    ),
    more="annotation/_more.html",
    archive_view="annotation:archive-study",
)
# Pages that only studies have whose raters work on this site.
RATED_HERE = ("annotation:",)


class Link(NamedTuple):
    """A tab or a page of a tab, as this reader sees it."""

    title: str
    url: str
    is_current: bool


@register.inclusion_tag("_place.html", takes_context=True)
def place(context: RequestContext, subject: Subject, query: str = "") -> dict[str, Any]:
    """Show the tabs of a dataset or a study, and the pages of the tab that is open.

    Args:
        context: the template's.
        subject: the dataset or study that the page is about.
        query: the reader's choices, as the query of an address. Pages with figures keep them.
    """
    places, here, tabs = _map_of(subject), _here(context["request"]), _tabs_of(subject)
    pages = next((pages for _, pages in tabs if any(map(here, pages))), [])
    return {
        "places": places,
        "subject": subject,
        "tabs": [_link(tab.title, subject, own[0], own is pages, query) for tab, own in tabs],
        "pages": [_link(each.title, subject, each, here(each), query) for each in pages],
        "is_admin": context.get("is_admin"),
        "may_import": context.get("may_import"),
        "csrf_token": context.get("csrf_token"),
    }


@register.simple_tag
def tabs_of(subject: Subject) -> list[Link]:
    """Return the tabs of a dataset or a study, for pages elsewhere that lead to them."""
    return [_link(tab.title, subject, pages[0], False) for tab, pages in _tabs_of(subject)]


def pages_of(subject: Subject) -> list[Link]:
    """Return every page of every tab of a dataset or a study."""
    return [
        _link(each.title, subject, each, False) for _, pages in _tabs_of(subject) for each in pages
    ]


def _map_of(subject: Subject) -> Map:
    return OF_STUDY if isinstance(subject, Study) else OF_DATASET


def _tabs_of(subject: Subject) -> list[tuple[Tab, list[TabPage]]]:
    """Return the tabs that a dataset or study has, each with its pages."""
    has = _condition_of(subject)
    tabs = ((tab, [each for each in tab.pages if has(each)]) for tab in _map_of(subject).tabs)
    return [(tab, pages) for tab, pages in tabs if pages]


def _condition_of(subject: Subject) -> Callable[[TabPage], bool]:
    """Return whether a dataset or study has a page."""
    if isinstance(subject, Study):
        left_out = RATED_HERE if subject.is_imported else ()
    else:
        has_graph = Entity.objects.filter(dataset=subject).exists()
        left_out = () if has_graph else ("graphs:",)
    return lambda page: not page.view.startswith(left_out)


def _here(request: HttpRequest) -> Callable[[TabPage], bool]:
    """Return whether a page is the open one, or the open one is behind it."""
    match = request.resolver_match
    view = match.view_name if match else ""
    return lambda page: view in (page.view, *page.behind)


def _link(title: str, subject: Subject, page: TabPage, is_current: bool, query: str = "") -> Link:
    arguments = [subject.slug, page.report] if page.report else [subject.slug]
    kept = query if page.view.startswith("evaluation:") else ""
    return Link(title, reverse(page.view, args=arguments) + kept, is_current)
