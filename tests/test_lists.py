"""Search, sorts, filters and archive of the lists of studies, data, runs, grids and graphs."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, NamedTuple

import pytest
from django.db import IntegrityError, transaction
from django.db.models import Q
from django.urls import reverse

from accounts.listing import containing
from accounts.models import AuditEntry
from annotation.models import Rater, Study, Target
from annotation.services.studies import StudyError, open_study
from evaluation.models import AutoScore, MetricRun
from generation.models import Call, Dataset, Entity, Example, Grid, KGQuestion, Response, Setup
from tests.makers import statements
from tests.shown import shown

pytestmark = pytest.mark.once

LONG_AGO = datetime(2024, 5, 1, tzinfo=UTC)
SIZES = {"gamma": 2, "alpha": 1, "Beta": 3}  # in the order in which they are made
N_STUDIES, N_DATASETS, N_RUNS = 1000, 200, 40


def test_a_search_finds_letters_with_accents_however_they_are_coded():
    either = Q(name__icontains="caf\u00e9") | Q(name__icontains="cafe\u0301")

    assert containing("name")("cafe\u0301") == either
    assert containing("name", "slug")("a") == Q(name__icontains="a") | Q(slug__icontains="a")


# --- one thing of each kind -----------------------------------------------------------------


def make_dataset(name: str, size: int = 0) -> Dataset:
    """Make a dataset with some examples."""
    made = Dataset.objects.create(name=name, slug=name.lower())
    Example.objects.bulk_create(
        Example(dataset=made, key=f"e{number}", dialog="d", digest="-") for number in range(size)
    )
    return made


def shared() -> Dataset:
    """Return the dataset of all studies, runs and grids, with three examples and responses."""
    if found := Dataset.objects.filter(name="shared").first():
        return found
    made = make_dataset("shared", 3)
    setup = Setup.objects.create(dataset=made, name="one", model="one")
    for example in made.examples.all():
        response = Response.objects.create(
            dataset=made,
            example=example,
            setup=setup,
            key=example.key,
            text="Text.",
            is_evidence_stated=False,
            digest="-",
        )
        Target.objects.create(response=response)
    return made


def make_study(name: str, size: int = 0, state: str = "closed", scheme: str = "AIS") -> Study:
    """Make a study with some raters."""
    asked = {"key": scheme, "title": f"Title of {scheme}", "questions": []}
    made = Study.objects.create(
        name=name,
        slug=name.lower(),
        dataset=shared(),
        scheme=asked,
        state=state,
        raters_per_unit=3,
    )
    Rater.objects.bulk_create(Rater(study=made, code=f"r{number}") for number in range(size))
    return made


def make_run(
    name: str, size: int = 0, state: str = "done", over: Dataset | None = None
) -> MetricRun:
    """Make an imported run, whose title is its metric, with some scores."""
    made = MetricRun.objects.create(
        dataset=over or shared(), metric=name, is_imported=True, state=state
    )
    targets = Target.objects.order_by("pk")[:size]
    AutoScore.objects.bulk_create(AutoScore(run=made, target=each, score=1) for each in targets)
    return made


def make_grid(name: str, size: int = 0, state: str = "done", over: Dataset | None = None) -> Grid:
    """Make a grid with some calls."""
    dataset = over or shared()
    made = Grid.objects.create(name=name, dataset=dataset, choices={}, state=state)
    setup, _ = Setup.objects.get_or_create(dataset=dataset, name=f"of {name}", model=name)
    examples = dataset.examples.order_by("pk")[:size]
    Call.objects.bulk_create(
        Call(grid=made, setup=setup, example=each, problem="none") for each in examples
    )
    return made


def make_graph(name: str, size: int = 1) -> Dataset:
    """Make a dataset whose graph has some entities."""
    made = make_dataset(name)
    Entity.objects.bulk_create(
        Entity(dataset=made, qid=f"Q{number}", label="L", digest="-") for number in range(size)
    )
    return made


class Case(NamedTuple):
    """A list, with what makes one of its rows, and the keys of its sorts by name and by size."""

    things: str
    path: str
    make: Callable[..., Any]
    archive: str  # the name of the address, by `by`
    by: str
    by_name: str
    by_size: str
    kind: str  # in the audit trail


CASES = [
    Case(
        *("studies", "/studies/", make_study, "annotation:archive-study", "slug", "name"),
        *("raters", "study"),
    ),
    Case(
        *("datasets", "/data/", make_dataset, "generation:archive", "slug", "name"),
        *("examples", "dataset"),
    ),
    Case(
        *("runs", "/metrics/", make_run, "evaluation:archive-run", "pk", "metric"),
        *("scores", "run"),
    ),
    Case("grids", "/grids/", make_grid, "grids:archive", "pk", "name", "calls", "grid"),
    Case(
        *("graphs", "/graphs/", make_graph, "generation:archive", "slug", "name"),
        *("entities", "dataset"),
    ),
]
each_list = pytest.mark.parametrize("case", CASES, ids=[case.things for case in CASES])


def make_three(case: Case) -> dict[str, Any]:
    """Make gamma, alpha and Beta, each a day after the one before."""
    made = {name: case.make(name, size) for name, size in SIZES.items()}
    for days, thing in enumerate(made.values()):
        type(thing).objects.filter(pk=thing.pk).update(created_at=LONG_AGO + timedelta(days))
    return made


def names_in(answer: Any, case: Case) -> list[str]:
    """Return the names that a list shows, in their order."""
    return [text for text in shown(answer).part(case.things).links if text in SIZES]


def archive_address(case: Case, thing: Any) -> str:
    return reverse(case.archive, args=[getattr(thing, case.by)])


# --- every list -----------------------------------------------------------------------------


@each_list
def test_a_search_finds_words_in_upper_or_lower_case(researcher, case):
    make_three(case)

    assert names_in(researcher.get(case.path, {"q": " ALPHA "}), case) == ["alpha"]
    assert names_in(researcher.get(case.path, {"q": "am mm"}), case) == ["gamma"]


@each_list
def test_a_search_that_finds_nothing_leads_back_to_all(researcher, case):
    make_three(case)

    page = shown(researcher.get(case.path, {"q": "alpha beta"}))

    assert "Nothing found" in page.headings
    assert page.links["Show all"] == case.path


@each_list
def test_rows_are_sorted_by_name_date_and_size(researcher, case):
    make_three(case)

    def by(sort: str) -> list[str]:
        return names_in(researcher.get(case.path, {"sort": sort}), case)

    assert by(case.by_name) == ["alpha", "Beta", "gamma"]
    assert by(f"-{case.by_name}") == ["gamma", "Beta", "alpha"]
    assert by("date") == ["Beta", "alpha", "gamma"]  # newest first
    assert by("-date") == ["gamma", "alpha", "Beta"]
    assert by(case.by_size) == ["Beta", "gamma", "alpha"]  # 3, 2, 1
    assert by(f"-{case.by_size}") == ["alpha", "gamma", "Beta"]


@each_list
@pytest.mark.parametrize(
    "query",
    ["sort=x", "sort=--name", "state=x", "with=x", "dataset=x", "scheme=x", "q=&page=9", "page=x"],
)
def test_an_unknown_choice_counts_as_missing(researcher, case, query):
    make_three(case)

    usual = names_in(researcher.get(case.path), case)

    assert len(usual) == 3
    assert names_in(researcher.get(f"{case.path}?{query}"), case) == usual


@pytest.mark.parametrize("case", [case for case in CASES if case.things not in ("runs", "grids")])
def test_the_head_of_a_sorted_column_says_so_and_turns_the_order(researcher, case):
    make_three(case)

    page = researcher.get(case.path, {"sort": "date", "q": "a"})
    head = shown(page).part(case.things).links
    assert page.text.count("aria-sort") == page.text.count('aria-sort="descending"') == 1
    turned = next(there for there in head.values() if "sort=-date" in there)
    assert turned == f"{case.path}?q=a&sort=-date"
    assert 'aria-sort="ascending"' in researcher.get(turned).text


@each_list
def test_only_the_first_eight_different_words_are_searched_for(researcher, case):
    make_three(case)
    words = "a l p h al lp ph A a alp beta alpha"  # the ninth different word is beta

    page = researcher.get(case.path, {"q": words})

    assert names_in(page, case) == ["alpha"]
    assert "Left out:<bdi>beta alpha</bdi>" in "".join(page.text.split("\n")).replace("  ", "")


@each_list
def test_htmx_gets_the_list_alone_and_other_requests_the_page(researcher, case):
    make_three(case)

    fragment = researcher.get(case.path, {"q": "alpha"}, headers={"HX-Request": "true"})

    assert names_in(fragment, case) == ["alpha"]
    assert "<h1" not in fragment.text
    assert "HX-Request" in fragment.headers["Vary"]
    page = shown(researcher.get(case.path, {"q": "alpha"}))
    assert page.fields["q"] == "alpha"


@each_list
def test_what_is_archived_is_listed_only_when_asked_for(researcher, rosa, case):
    thing = make_three(case)["alpha"]
    there = archive_address(case, thing)

    for _ in range(2):  # The second one changes nothing.
        answer = researcher.post(there, {"archived": "yes"}, headers={"Referer": case.path})

    assert answer.status_code == 302
    assert sorted(names_in(researcher.get(case.path), case)) == ["Beta", "gamma"]
    archived = researcher.get(case.path, {"archived": "on"})
    assert names_in(archived, case) == ["alpha"]
    assert "Archived 1" in shown(archived).text
    researcher.post(there, {"archived": "no"})
    assert len(names_in(researcher.get(case.path), case)) == 3
    actions = AuditEntry.objects.filter(actor=rosa).order_by("pk").values_list("action", flat=True)
    assert list(actions) == [f"{case.kind}.archived", f"{case.kind}.unarchived"]


@each_list
def test_where_everything_is_archived_the_list_says_so(researcher, case):
    for thing in make_three(case).values():
        researcher.post(archive_address(case, thing), {"archived": "yes"})
    Dataset.objects.update(archived_at=LONG_AGO)

    page = shown(researcher.get(case.path))

    assert "Everything is archived" in page.headings
    assert page.links["Show archived"] == f"{case.path}?archived=on"


@each_list
def test_raters_and_guests_archive_nothing(client, rachel, client_for, researcher, case):
    thing = make_three(case)["alpha"]
    there = archive_address(case, thing)

    assert client_for(rachel).post(there, {"archived": "yes"}).status_code == 403
    assert client.post(there, {"archived": "yes"}).status_code != 200
    assert researcher.get(there).status_code == 405
    thing.refresh_from_db()
    assert not thing.is_archived


# --- filters of single lists ----------------------------------------------------------------


def test_studies_are_filtered_by_state_and_scheme(researcher):
    make_study("alpha", state="planned", scheme="SSA")
    make_study("Beta", state="closed", scheme="SSA")
    make_study("gamma", state="closed")
    [studies, *_] = CASES

    closed = researcher.get("/studies/", {"state": "closed", "scheme": "SSA"})

    assert names_in(closed, studies) == ["Beta"]
    [tabs] = shown(closed).parts("tabs")
    assert [*tabs.links] == ["All 2", "Planned 1", "Open 0", "Paused 0", "Closed 1"]
    assert tabs.links["Planned 1"] == "/studies/?scheme=SSA&state=planned"


def test_datasets_are_filtered_by_what_they_hold(researcher):
    make_graph("alpha")
    shared()
    Study.objects.create(
        name="s", slug="s", dataset=make_dataset("gamma"), scheme={}, raters_per_unit=3
    )

    def holding(what: str) -> list[str]:
        rows = shown(researcher.get("/data/", {"with": what})).table().rows
        return [row[0] for row in rows]

    assert holding("graph") == ["alpha"]
    assert holding("responses") == ["shared"]
    assert holding("studies") == ["gamma"]


def test_runs_are_filtered_by_metric_and_dataset_and_found_by_titles_and_studies(researcher):
    other = make_dataset("other")
    make_run("alpha")
    make_run("Beta", over=other)
    make_run("gamma", over=other, state="cancelled")
    MetricRun.objects.create(dataset=shared(), metric="auto_ais", parameters={"flavor": "v3"})
    Study.objects.create(name="Mills", slug="mills", dataset=other, scheme={}, raters_per_unit=3)
    runs = CASES[2]

    def listed(**query: str) -> list[str]:
        return sorted(names_in(researcher.get("/metrics/", query), runs))

    assert listed(metric="alpha") == ["alpha"]
    assert listed(dataset="other") == ["Beta", "gamma"]
    assert listed(dataset="other", state="cancelled") == ["gamma"]
    assert listed(q="mills") == ["Beta", "gamma"]
    page = shown(researcher.get("/metrics/", {"q": "auto-ais"}))
    assert len(page.parts("run")) == 1


def test_grids_are_filtered_by_state_and_dataset(researcher):
    make_grid("alpha", over=make_dataset("other"))
    make_grid("Beta")
    make_grid("gamma", state="cancelled")
    grids = CASES[3]

    assert names_in(researcher.get("/grids/", {"dataset": "other"}), grids) == ["alpha"]
    assert names_in(researcher.get("/grids/", {"state": "cancelled"}), grids) == ["gamma"]


def test_graphs_are_filtered_by_questions(researcher):
    for name in SIZES:
        make_graph(name)
    example = Example.objects.create(
        dataset=Dataset.objects.get(name="Beta"), key="k", dialog="d", digest="-"
    )
    KGQuestion.objects.create(example=example, is_minimum_known=False, is_retrieved_known=False)

    assert names_in(researcher.get("/graphs/", {"with": "questions"}), CASES[4]) == ["Beta"]
    assert names_in(researcher.get("/graphs/", {"with": "answers"}), CASES[4]) == []


# --- the archive ----------------------------------------------------------------------------


@pytest.mark.parametrize("state", ["open", "paused"])
def test_a_study_that_raters_work_on_is_not_archived(researcher, state):
    study = make_study("alpha", state=state)

    answer = researcher.post("/studies/alpha/archive/", {"archived": "yes"}, follow=True)

    assert f"alpha is {state}. Close it before you archive it." in shown(answer).text
    with pytest.raises(IntegrityError), transaction.atomic():
        Study.objects.filter(pk=study.pk).update(archived_at=LONG_AGO)


def test_an_archived_study_is_restored_before_it_opens(researcher, rosa):
    study = make_study("alpha", state="planned")
    researcher.post("/studies/alpha/archive/", {"archived": "yes"})

    with pytest.raises(StudyError, match="Restore it"):
        open_study(study, rosa)


@pytest.mark.parametrize(
    ("path", "field", "prefix"),
    [
        ("/studies/new/", "dataset", ""),
        ("/metrics/new/", "over", "dataset:"),
        ("/grids/new/", "over", "dataset:"),
        ("/grids/new/file/", "dataset", ""),
    ],
)
def test_menus_offer_what_is_not_archived_and_say_so_where_an_address_names_it(
    researcher, path, field, prefix
):
    shared()
    other = make_dataset("other", 1)
    setup = Setup.objects.create(dataset=other, name="two", model="two")
    Response.objects.create(
        dataset=other,
        example=other.examples.get(),
        setup=setup,
        key="r",
        text="Text.",
        is_evidence_stated=False,
        digest="-",
    )

    def offered(**query: str) -> str:
        return str(researcher.get(path, query).text)

    value = f'<option value="{prefix}other"'
    assert value in offered()
    Dataset.objects.filter(name="other").update(archived_at=LONG_AGO)
    assert value not in offered()
    named = researcher.get(path, {"dataset": "other"})
    assert value not in named.text
    assert "other is archived. Restore it on its own page" in shown(named).text
    page = shown(researcher.get("/data/other/"))
    assert "archived" in page.text
    assert "Restore other" in page.buttons


def test_the_api_lists_what_is_archived_and_marks_it(researcher):
    archived = {"archived_at": LONG_AGO}
    make_study("alpha")
    Study.objects.update(**archived)
    make_run("alpha")
    make_grid("alpha")

    def marks(what: str) -> list[bool]:
        return [row["archived"] for row in researcher.get(f"/api/v1/{what}/").json()["results"]]

    assert marks("studies") == [True]
    assert marks("datasets") == marks("runs") == marks("grids") == [False]
    for model in (Dataset, MetricRun, Grid):
        model._default_manager.update(**archived)
    assert marks("datasets") == marks("runs") == marks("grids") == [True]


# --- many rows ------------------------------------------------------------------------------


def make_many() -> None:
    """Make 1,000 studies, 200 datasets with a graph, 40 runs and 40 grids."""
    datasets = Dataset.objects.bulk_create(
        Dataset(name=f"Set {number}", slug=f"set-{number}") for number in range(N_DATASETS)
    )
    Entity.objects.bulk_create(
        Entity(dataset=each, qid="Q1", label="L", digest="-") for each in datasets
    )
    studies = Study.objects.bulk_create(
        Study(
            name=f"Many {number}",
            slug=f"many-{number}",
            dataset=datasets[number % N_DATASETS],
            scheme={"key": "AIS", "questions": []},
            state="closed",
            raters_per_unit=3,
        )
        for number in range(N_STUDIES)
    )
    Rater.objects.bulk_create(
        Rater(study=each, code=f"r{number}") for each in studies for number in range(3)
    )
    for number in range(N_RUNS):
        make_run(f"metric {number}", over=datasets[number])
        make_grid(f"grid {number}", over=datasets[number])


@each_list
def test_many_rows_take_no_more_queries(researcher, case):
    make_three(case)
    addresses = [
        f"{case.path}?sort={sort}&q={q}"
        for sort in ("date", case.by_name, case.by_size)
        for q in ("", "a")
    ]
    researcher.get(case.path)  # caches what the session and the site need

    before = [len(statements(partial(researcher.get, there))) for there in addresses]
    make_many()
    after = [len(statements(partial(researcher.get, there))) for there in addresses]

    assert after == before
    assert max(after) <= 14
