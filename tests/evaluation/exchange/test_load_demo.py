"""The demo's data: complete, labelled as simulated, loaded once, and never on a real site."""

import math
from collections import Counter, defaultdict
from io import StringIO
from itertools import chain
from statistics import mean
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.models import Count
from django.test import override_settings
from django.urls import reverse

from accounts.access import Role, roles_of
from accounts.models import AuditEntry, User
from accounts.services import deactivate, set_password
from annotation.models import Study, Vote
from annotation.planning import plan_units, rater_needs
from annotation.rateable_responses import NO_EVIDENCE
from annotation.services.claiming import claim_next_unit
from evaluation.exchange.demo_files import DEMO_FILES
from evaluation.exchange.demo_results import COMPLETED
from evaluation.exchange.management.commands.load_demo import sign_ins
from evaluation.exchange.written_responses import kinds_of_setup, written_texts
from evaluation.graphs.pages.cited_answer import judged_answers
from evaluation.graphs.reports.alignment import alignment_report
from evaluation.graphs.reports.citations import citations_report
from evaluation.graphs.reports.incompetence import incompetence_report
from evaluation.graphs.reports.quality import quality_report
from evaluation.measures.citation import CitationVerdict
from evaluation.models import AutoScore, MetricRun
from evaluation.reports.registry import all_reports
from evaluation.studies.rater_quality.reports import rater_quality
from evaluation.studies.reports.agreement import agreement_report
from evaluation.tradeoffs.axes import named_axes
from evaluation.tradeoffs.chart_view import FIGURES, largest, point_of, smallest, visible_marks
from evaluation.tradeoffs.material import TradeoffMaterial, material_of
from evaluation.tradeoffs.recipes import newest_aggregate, recipes_of
from generation.evidence import graphs_of
from generation.grids.grid_file import USUAL_PROMPTS
from generation.models import Dataset, Example, Grid, Response
from tests.annotation.makers import planned
from tests.browsing import COUNT_CONTROLS, browsing
from tests.evaluation.graphs.experiments.experiment_reports import experiment_report
from tests.shown import shown

pytestmark = pytest.mark.once

ATTRIBUTION = "Demo: attribution (simulated raters)"
SENSIBLENESS = "Demo: sensibleness (simulated raters)"
CARELESS = "Demo: one careless rater (simulated raters)"
OPEN = "Demo: rate these yourself"


@pytest.fixture(scope="module")
def demo(module_database):
    """Load all of the demo once for all tests of this file."""
    with override_settings(IS_ON_OWN_MACHINE=True):
        call_command("load_demo", wait=True, stdout=StringIO(), stderr=StringIO())
    connection.check_constraints()


@pytest.fixture(scope="module")
def material(demo) -> TradeoffMaterial:
    """Return the trade-off of the demo with its usual axes."""
    dataset = Dataset.objects.get(name="Demo")
    return material_of(dataset, named_axes(dataset))


@pytest.fixture
def load_again(demo, settings):
    """Return a function that loads the demo and returns what the command says."""
    settings.IS_ON_OWN_MACHINE = True

    def load(*, wait: bool = False) -> str:
        output = StringIO()
        call_command("load_demo", wait=wait, stdout=output, stderr=StringIO())
        return output.getvalue()

    return load


def counts() -> dict[str, int]:
    models = (User, AuditEntry, Dataset, Example, Response, Study, Vote)
    return {model.__name__: model.objects.count() for model in models}


def raters_by_response(study: str, arm: str) -> dict[str, set[str]]:
    raters: dict[str, set[str]] = defaultdict(set)
    votes = Vote.objects.filter(arm__study__name=study, arm__kind=arm)
    for response, rater in votes.values_list("target__response__key", "rater__code"):
        raters[response].add(rater)
    return raters


def test_it_is_refused_without_debug(settings):
    settings.IS_ON_OWN_MACHINE = False
    before = counts()

    with pytest.raises(CommandError, match="needs DJANGO_DEBUG=1"):
        call_command("load_demo")

    assert counts() == before


def test_the_dataset_is_that_of_the_files(demo):
    # evaluation/exchange/demo/README.md: 28 examples from 20 conversations, four setups.
    examples = Example.objects.filter(dataset__name="Demo")
    assert examples.count() == 28
    assert examples.values("dialog").distinct().count() == 20
    of_files = Response.objects.filter(dataset__name="Demo", meta__has_key="truth")
    assert of_files.count() == 28 * 4


# --- trade-offs -----------------------------------------------------------------------------


def test_two_models_answer_twelve_prompt_types_at_two_temperatures(demo):
    cells = Dataset.objects.get(name="Demo").setups.filter(prompt__in=USUAL_PROMPTS)

    assert cells.count() == 12 * 2 * 2
    assert set(cells.values_list("model", flat=True)) == {"extractive", "demo-writer"}
    assert set(cells.values_list("temperature", flat=True)) == {0.0, 0.7}
    assert {setup.responses.count() for setup in cells} == {28}


def test_each_figure_of_the_paper_has_its_marks(material):
    """1: 12 types × 2 models × 2 temperatures. 2: 7 of them; 3: of one model.

    4 and 5: shares of 1.0, and 0.9 to 0.0 with two kinds of evidence. 6 and 7: 7 setups of one
    temperature, and 3 functions that choose among them.
    """
    n_marks = {}
    for number, figure in FIGURES.items():
        large, small = largest(material, figure), smallest(material, figure)
        shown = visible_marks(material, figure.view(material, large, small))
        points = [point_of(material, place) for place in shown]
        assert not any(map(math.isnan, chain.from_iterable(points)))
        n_marks[number] = len(shown)

    assert n_marks == {1: 48, 2: 28, 3: 14, 4: 21, 5: 21, 6: 10, 7: 10}


def test_all_four_clusters_have_marks(material):
    assert len({dot.cluster for dot in material.dots if dot.cluster}) == 4


def report_on_demo(key: str) -> list[dict[str, Any]]:
    """Return the rows of a report on the dialogs, with its usual choices."""
    kind = all_reports()[key]
    return kind.make(Dataset.objects.get(name="Demo"), kind.choices()).records


def test_marks_with_golden_evidence_have_intervals(demo):
    rows = [row for row in report_on_demo("tradeoff") if row["prompt"] == "golden"]

    assert len(rows) == 4
    assert all(row["f1_low"] < row["f1"] < row["f1_high"] for row in rows)


def test_lines_of_restricted_context_have_intervals(demo):
    """At dialog shares 1.0, 0.9 … 0.0, of top 1 and of top k."""
    rows = report_on_demo("restricted")

    assert len(rows) == 11
    for lines in ("top_1", "top_k"):
        drawn = [row for row in rows if row[f"{lines}_f1"] is not None]
        assert len(drawn) >= 10
        assert all(row[f"{lines}_f1_low"] < row[f"{lines}_f1_high"] for row in drawn)


def test_takeaways_have_effects_with_intervals(demo):
    effects = {row["effect"]: row for row in report_on_demo("takeaways") if row["n_pairs"]}

    for effect in ("history", "golden evidence", "temperature", "instructions", "re-ranking"):
        row = effects[effect]
        assert row["f1_difference_low"] < row["f1_difference"] < row["f1_difference_high"]


def test_without_evidence_extractive_is_far_less_attributable(material):
    """At least 30 points, by the usual baseline, against golden evidence."""
    golden, without = (
        point_of(material, material.place(f"extractive · T 0.0 · {prompt}"))[0]
        for prompt in ("golden", "no-evidence")
    )

    assert material.axes.attribution.title.startswith("Auto-AIS, added_words")
    assert golden - without >= 0.30


def test_extractive_is_above_the_floor_with_golden_evidence_and_not_without(demo, client_for, rosa):
    """The words of the page: it marks shares that are not above what a metric says of the wrong."""
    page = shown(client_for(rosa).get(reverse("tradeoffs:tradeoff", args=["demo"])))
    cells = {
        (prompt, temperature): (attribution, sensibleness)
        for prompt, model, temperature, attribution, sensibleness, _ in page.table("Setups").rows
        if model == "extractive"
    }

    assert not any("≤ floor" in cell for cell in cells["Golden", "0.0"])
    assert all("≤ floor" in cell for cell in cells["No history, none", "0.0"])
    assert (
        "≤ floor" in cells["No evidence", "0.0"][1]
    )  # it repeats the dialog, which makes no sense
    above = {row["setup"]: row["above_floor"] for row in report_on_demo("tradeoff")}
    assert above["extractive · T 0.0 · golden"] == "attribution and sensibleness"
    assert above["extractive · T 0.0 · no-history-no-evidence"] == "neither"
    verdicts = {row["run_title"]: row["verdict"] for row in report_on_demo("controls")}
    assert verdicts == {
        # The question stands in premise and hypothesis, so that every text shares words with both.
        "Auto-AIS, v3": "unfit",
        "Auto-AIS (shown)": "fit",
        "Auto-AIS (golden)": "fit",
        "Auto-SSA: sensible": "fit",
    }


def test_better_prompts_get_better_texts(material):
    """The written texts: evidence and history make responses attributable and sensible."""
    attribution, sensibleness = zip(
        *(
            point_of(material, material.place(f"demo-writer · T 0.0 · {prompt}"))
            for prompt in ("golden-instructions", "random", "no-history-no-evidence")
        ),
        strict=True,
    )

    assert list(attribution) == sorted(attribution, reverse=True)
    assert list(sensibleness) == sorted(sensibleness, reverse=True)


def test_a_written_setup_has_as_many_texts_of_a_kind_as_its_table_says():
    """28 × (79, 11, 4, 6, 0) % = 22.12, 3.08, 1.12, 1.68, 0; the last unit goes to the 1.68."""
    kinds = kinds_of_setup(list(written_texts()), "golden-instructions", 0.0)

    assert Counter(kinds.values()) == {"right": 22, "partly": 3, "beside": 1, "guess": 2}


def test_pools_and_the_recipe_are_reranked(demo):
    dataset = Dataset.objects.get(name="Demo")
    [recipe] = recipes_of(dataset)

    # Three functions over the pools of two models at two temperatures, and the recipe.
    assert dataset.setups.filter(prompt="reranked").count() == 3 * 4 + 1
    assert newest_aggregate(recipe) is not None


def test_no_score_or_figure_is_in_the_files_of_the_dialogs():
    assert {path.name for path in DEMO_FILES.iterdir()} == {
        "README.md",
        "dataset.json",
        "examples.jsonl",
        "graph",
        "responses.jsonl",
        "written_texts.jsonl",
    }


def test_the_metric_agrees_with_raters_at_the_first_visit(demo):
    """Each of three studies has a run over its responses, beside votes on the same thing."""
    runs = MetricRun.objects.filter(dataset__name="Demo", state=MetricRun.State.DONE)

    assert sorted(runs.values_list("metric", "backend")) == [
        ("auto_ais", "added_words"),
        ("auto_ais", "added_words"),
        ("auto_ais", "lexical"),
        ("sensible", "heuristic"),
    ]
    assert not AutoScore.objects.filter(run__in=runs, score=None).exists()
    for name in (ATTRIBUTION, SENSIBLENESS, CARELESS):
        rows = agreement_report(Study.objects.get(name=name)).records
        assert any(row["n"] >= 28 and row["accuracy"] is not None for row in rows)


# --- the graph ------------------------------------------------------------------------------


def test_the_graph_has_answers_of_every_verdict(demo):
    """As in demo/README.md: 16 entities, 12 questions, 2 answers to each of the first 4."""
    graph = Dataset.objects.get(name="Demo graph")
    written = graph.responses.filter(setup__model="demo-writer")
    answers = judged_answers(graph, list(written.order_by("key")))

    assert (graph.entities.count(), graph.examples.count(), len(answers)) == (16, 12, 8)
    assert {verdict for answer in answers for verdict in answer.n_of} == set(
        map(str, CitationVerdict)
    )
    assert sum(answer.n_na for answer in answers) == 1
    assert [answer.response.key for answer in answers if not answer.facts] == ["graph-4.t7"]


def test_each_report_on_the_graph_has_figures(demo):
    """Two setups of the files, and of the extractive model each of these three times (seeds).

    Gold graphs, 3 with knowledge removed, 4 with sub-graphs replaced, retrieved graphs at 3
    temperatures: 33 setups. Alignment is about those that lack nothing: 2 + 3 + 9. Of the files
    three answers had a triple removed; of the others 11 questions of three runs, at three steps.
    """
    graph = Dataset.objects.get(name="Demo graph")

    made = (citations_report, alignment_report, incompetence_report, quality_report)
    assert [len(report(graph).rows) for report in made] == [35, 14, 11, 4 * 2]
    assert sum(row["n_answers"] for row in incompetence_report(graph).records) == 3 + 11 * 3 * 3


def test_every_answer_about_the_graph_can_be_rated(demo):
    """None is left out: 8 answers are from the files, the others from the extractive model.

    It has 12 answers to gold graphs, 11 to each that lacks members of minimum sets, 12 to each with
    replaced sub-graphs and to retrieved ones at three temperatures, and all three times.
    """
    graph = Dataset.objects.get(name="Demo graph")

    plan = plan_units(planned(graph, arms=["separate", "merged"]))

    shown = dict(graphs_of(graph.responses.all(), "shown"))
    merged = [unit for unit in plan.units if unit.arm == "merged"]
    assert (
        sum(unit.arm == "separate" for unit in plan.units)
        == plan.n_responses
        == (8 + 3 * (12 + 3 * 11 + 4 * 12 + 3 * 12))
    )
    assert NO_EVIDENCE not in plan.left_out
    # No unit holds answers to graphs with and without a triple removed.
    assert merged
    for unit in merged:
        assert len({frozenset(shown[response]) for response, _ in unit.targets}) == 1


def test_tables_of_experiments_have_three_seeded_runs(demo):
    graph = Dataset.objects.get(name="Demo graph")

    removal = experiment_report("removal", graph).records
    assert [(row["n_removed"], row["n_runs"]) for row in removal] == [(n, 3) for n in range(4)]
    # Less of what is needed is cited, the fewer of it is shown; what is cited stays correct.
    recalls = [row["recall"] for row in removal]
    assert recalls == sorted(recalls, reverse=True)
    assert recalls[0] > recalls[-1]
    assert {row["correctness"] for row in removal} == {1.0}
    assert 3 in [row["n_runs"] for row in experiment_report("citations", graph).records]


def test_curves_of_experiments_have_intervals(demo):
    graph = Dataset.objects.get(name="Demo graph")

    removal = experiment_report("removal", graph).records
    accuracy = experiment_report("accuracy", graph).records

    assert all(row["na_f1_low"] < row["na_f1"] < row["na_f1_high"] for row in removal[1:])
    assert accuracy[0]["gold_share"] == 1.0
    recalls = [row["recall"] for row in accuracy]
    assert len(recalls) == 5
    assert recalls == sorted(recalls, reverse=True)
    for row in (*removal[:3], *accuracy):  # at the last step of removal, nothing needed is left
        assert row["recall_low"] < row["recall"] < row["recall_high"]


def test_some_answers_say_what_the_graph_does_not(demo):
    answers = Response.objects.filter(dataset__name="Demo graph", setup__model="extractive")

    assert answers.filter(setup__prompt="graph-gold-minus-1", text__contains="[NA]").exists()


# --- studies --------------------------------------------------------------------------------


def test_the_open_study_is_half_rated_and_its_rater_has_units(demo):
    study = Study.objects.get(name=OPEN)

    assert study.state == Study.State.OPEN
    # 28 examples, two setups with evidence, five raters each: alone, and both together.
    assert {arm.kind: arm.n_units for arm in study.arms.all()} == {"separate": 56, "merged": 28}
    assert study.assignments.count() == (56 + 28) * 5
    assert study.assignments.exclude(submitted_at=None).count() == (56 + 28) * 5 / 2
    assert not any(need.n_missing for need in rater_needs(study))
    own = study.raters.get(user__username="rater")
    assert not own.is_simulated
    assert not own.votes.exists()
    assert study.raters.filter(is_simulated=True).count() == 9
    assert Vote.objects.filter(arm__study=study, seconds__gt=1).exists()
    assert claim_next_unit(own) is not None


def test_votes_of_the_open_study_keep_the_rules_of_its_form(demo):
    votes = Vote.objects.filter(arm__study__name=OPEN)

    assert not votes.filter(is_implied=True, answer=1).exists()
    assert not votes.filter(is_surplus=True).exists()
    assert set(votes.filter(arm__kind="merged").values_list("position", flat=True)) == {1, 2}


def test_one_of_three_raters_is_careless(demo):
    """The share of the seven answers in which each pair of raters agrees, over 56 responses."""
    votes = Vote.objects.filter(arm__study__name=CARELESS)
    answers: dict[str, dict[tuple[str, str], int]] = defaultdict(dict)
    for code, response, question, answer in votes.values_list(
        "rater__code", "target__response__key", "question", "answer"
    ):
        answers[code][response, question] = answer

    def agreement(one: str, other: str) -> float:
        pairs = zip(answers[one].values(), map(answers[other].get, answers[one]), strict=True)
        return mean(mine == theirs for mine, theirs in pairs)

    first, second, careless = sorted(answers)
    assert {len(each) for each in answers.values()} == {56 * 7}
    assert agreement(first, second) > agreement(first, careless)
    assert agreement(first, second) > agreement(second, careless)
    found = rater_quality(Study.objects.get(name=CARELESS)).reasons
    assert {code: said[0].short for code, said in found.items()} == {
        careless: "faster than reading"
    }


def test_attribution_has_both_arms_with_five_raters_each(demo):
    study = Study.objects.get(name=ATTRIBUTION)
    separate = raters_by_response(ATTRIBUTION, "separate")
    merged = raters_by_response(ATTRIBUTION, "merged")

    assert study.scheme["key"] == "AIS"
    assert study.raters_per_unit == 5
    assert {setup.prompt for setup in study.setups.all()} == {"golden"}
    assert study.setups.count() == 2
    assert set(separate) == set(merged)
    assert len(separate) == 28 * 2
    assert {len(found) for found in [*separate.values(), *merged.values()]} == {5}
    assert not any(separate[response] & merged[response] for response in separate)


def test_sensibleness_has_all_setups_in_the_separate_arm(demo):
    study = Study.objects.get(name=SENSIBLENESS)
    separate = raters_by_response(SENSIBLENESS, "separate")

    assert study.scheme["key"] == "SSA"
    assert study.setups.count() == 4
    assert len(separate) == 28 * 4
    assert {len(found) for found in separate.values()} == {5}
    assert not raters_by_response(SENSIBLENESS, "merged")


def test_all_its_raters_are_labelled_simulated(demo):
    for study in Study.objects.exclude(name=OPEN):
        assert study.raters.count() == (3 if study.name == CARELESS else 12)
        assert not study.raters.filter(is_simulated=False).exists()
        assert all(
            code.startswith("simulated-") for code in study.raters.values_list("code", flat=True)
        )
        assert "simulated" in study.name
        assert "simulated" in study.guidelines.get().text
        assert study.introduction.startswith("Look for ")


def test_each_dataset_says_what_to_look_for(demo):
    for dataset in Dataset.objects.all():
        assert "Look for " in dataset.description


def test_implied_noes_are_kept_as_implied(demo):
    implied = Vote.objects.filter(arm__study__name=ATTRIBUTION, is_implied=True)

    assert implied.exists()
    assert not implied.filter(answer=1).exists()
    assert not implied.filter(question="understand").exists()


def test_a_second_run_changes_nothing(load_again):
    before = counts()

    said = load_again()

    assert counts() == before
    assert said == "The demo is already loaded. Nothing was changed.\n"


def test_a_second_run_is_quick(load_again, django_assert_max_num_queries):
    with django_assert_max_num_queries(7):
        load_again()


def test_what_was_interrupted_goes_on(load_again):
    """A process that is killed before the end leaves no entry in the audit trail."""
    AuditEntry.objects.filter(action=COMPLETED).delete()
    before = counts() | {"MetricRun": MetricRun.objects.count(), "Grid": Grid.objects.count()}

    said = load_again(wait=True)

    now = counts() | {"MetricRun": MetricRun.objects.count(), "Grid": Grid.objects.count()}
    # The written responses are imported again, which changes nothing, and the end is noted.
    assert now == before | {"AuditEntry": before["AuditEntry"] + 2}
    assert said == "Its grids, runs and experiments are done.\n"


def test_what_was_deleted_comes_back_without_touching_the_rest(load_again):
    before = counts()
    Vote.objects.filter(arm__study__name=SENSIBLENESS).delete()
    Study.objects.get(name=SENSIBLENESS).delete()

    said = load_again()

    assert counts() == before | {"AuditEntry": before["AuditEntry"] + 1}  # one more import
    assert said == f"study: {SENSIBLENESS}\n"


def test_a_study_is_added_to_a_demo_of_an_earlier_version(load_again):
    """There, the setups without evidence had another prompt. The responses stay as they are."""
    setup = Dataset.objects.get(name="Demo").setups.get(name="demo-writer · T 0.0 · no-evidence")
    setup.name, setup.prompt = "demo-writer · T 0.0 · no evidence", "no evidence"
    setup.save()
    Vote.objects.filter(arm__study__name=CARELESS).delete()
    Study.objects.get(name=CARELESS).delete()
    before = Response.objects.count()

    said = load_again()

    assert said == f"study: {CARELESS}\n"
    assert Response.objects.count() == before


def test_votes_are_the_same_in_every_installation(load_again):
    n_yes = Vote.objects.filter(answer=1).aggregate(n=Count("pk"))["n"]
    Vote.objects.all().delete()
    Study.objects.all().delete()

    load_again()

    assert Vote.objects.filter(answer=1).count() == n_yes


def test_each_role_has_an_account_that_signs_in(demo):
    for username, password in sign_ins():
        user = User.objects.get(username=username)
        assert user.check_password(password)
        assert Role(username) in roles_of(user)
    assert [username for username, _ in sign_ins()] == ["rater", "researcher", "admin"]


def test_an_account_of_that_name_is_left_alone(load_again):
    User.objects.get(username="admin").delete()
    AuditEntry.objects.filter(action="demo.account_created", subject="admin").delete()
    User.objects.create_user("Admin", password="somebody's own")

    load_again()

    assert User.objects.get(username__iexact="admin").check_password("somebody's own")
    assert [username for username, _ in sign_ins()] == ["rater", "researcher"]


def test_changed_passwords_and_closed_accounts_are_not_offered(load_again):
    set_password(User.objects.get(username="rater"), "my own now")
    deactivate(User.objects.get(username="researcher"), None)

    load_again()

    assert User.objects.get(username="rater").check_password("my own now")
    assert [username for username, _ in sign_ins()] == ["admin"]


# --- as its visitor meets it ----------------------------------------------------------------

# The heading of each reading, with the links of home and of the next page that lead to it.
READINGS = {
    "Agreement between raters": ("Demo: attribution (simulated raters)", "Raters"),
    "Merged against separate": ("Demo: attribution (simulated raters)", "Merged against separate"),
    "Four clusters": ("Trade-off",),
    "Recipe": ("Generate", "Recipe"),
    "Prompts": ("Browse", "Prompts"),
    "Gold items": (OPEN, "no gold items"),
    "Threshold choice": ("Metrics", "Threshold choice"),
    "Experiments": ("Demo graph", "Experiments"),
}


def test_each_reading_is_two_clicks_from_home(demo, client_for, rosa):
    client = client_for(rosa)
    for heading, links in READINGS.items():
        page = shown(client.get(reverse("home")))
        for link in links:
            page = shown(client.get(page.links[link], follow=True))
        assert heading in page.headings, links


MOST_IN_ALL = 510


def most_controls() -> dict[str, int]:
    """Return the addresses of main pages with how many controls each may show at first."""
    response = Response.objects.filter(dataset__name="Demo").order_by("pk")[0]
    run = MetricRun.objects.filter(dataset__name="Demo", is_imported=False).order_by("pk")[0]
    study = Study.objects.get(name=ATTRIBUTION).slug
    return {
        "/": 30,
        "/data/": 15,
        "/data/demo/": 25,
        f"/data/demo/responses/{response.pk}/": 35,
        "/data/demo/grids/": 25,
        "/grids/new/?dataset=demo": 30,
        "/data/demo/runs/": 30,
        f"/metrics/{run.pk}/": 35,
        "/metrics/new/?dataset=demo": 30,
        "/tradeoffs/demo/": 60,
        "/tradeoffs/demo/restricted/": 36,
        "/tradeoffs/demo/takeaways/": 25,
        "/tradeoffs/demo/reranking/": 35,
        "/graphs/demo-graph/": 25,
        "/graphs/demo-graph/reports/citations/": 35,
        "/studies/": 25,
        f"/studies/{study}/": 25,
        f"/studies/{Study.objects.get(name=OPEN).slug}/setup/": 45,
        f"/studies/{study}/metrics/": 30,
        f"/studies/{study}/disagreements/": 35,
        "/studies/new/?dataset=demo": 14,
    }


def test_main_pages_offer_few_things_at_once(demo, client_for, rosa):
    client, most = client_for(rosa), most_controls()
    pages = {address: client.get(address).text for address in most}
    assert all("<h1" in page and "rosa" in page for page in pages.values())

    with browsing(pages) as page:
        found = {}
        for address in pages:
            page.goto(address)
            found[address] = page.evaluate(COUNT_CONTROLS)

    assert {address: n for address, n in found.items() if n > most[address]} == {}
    assert sum(found.values()) <= MOST_IN_ALL
