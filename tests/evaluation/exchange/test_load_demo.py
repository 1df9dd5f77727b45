"""The demo's data: complete, labelled as simulated, loaded once, and never on a real site."""

from collections import defaultdict
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db.models import Count
from django.test import override_settings

from accounts.access import Role, roles_of
from accounts.models import AuditEntry, User
from accounts.services import deactivate, set_password
from annotation.models import Study, Vote
from annotation.planning import NO_EVIDENCE, plan_units, rater_needs
from annotation.services.claiming import claim_next_unit
from evaluation.exchange.management.commands.load_demo import sign_ins
from evaluation.graphs.pages.cited_answer import judged_answers
from evaluation.graphs.reports.alignment import alignment_report
from evaluation.graphs.reports.citations import citations_report
from evaluation.graphs.reports.incompetence import incompetence_report
from evaluation.graphs.reports.quality import quality_report
from evaluation.measures.citation import CitationVerdict
from generation.evidence import graphs_of
from generation.models import Dataset, Example, Response
from tests.annotation.makers import planned
from tests.evaluation.graphs.experiments.experiment_reports import experiment_report

pytestmark = pytest.mark.once

ATTRIBUTION = "Demo: attribution (simulated raters)"
SENSIBLENESS = "Demo: sensibleness (simulated raters)"


@pytest.fixture(scope="module")
def demo(module_database):
    """Load the demo once for all tests of this file."""
    with override_settings(DEBUG=True):
        call_command("load_demo", stdout=StringIO())


@pytest.fixture
def load_again(demo, settings):
    """Return a function that loads the demo and returns what that says."""
    settings.DEBUG = True

    def load() -> str:
        output = StringIO()
        call_command("load_demo", stdout=output)
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
    settings.DEBUG = False
    before = counts()

    with pytest.raises(CommandError, match="needs DJANGO_DEBUG=1"):
        call_command("load_demo")

    assert counts() == before


def test_the_dataset_is_that_of_the_files(demo):
    # evaluation/exchange/demo/README.md: 28 examples from 20 conversations, four setups.
    examples = Example.objects.filter(dataset__name="Demo")
    assert examples.count() == 28
    assert examples.values("dialog").distinct().count() == 20
    assert Response.objects.filter(dataset__name="Demo").count() == 28 * 4


def test_the_graph_has_answers_of_every_verdict(demo):
    """The figures are those of demo/README.md: 7 entities, 4 questions, 2 answers to each."""
    graph = Dataset.objects.get(name="Demo graph")
    written = graph.responses.filter(setup__model="demo-writer")
    answers = judged_answers(graph, list(written.order_by("key")))

    assert (graph.entities.count(), graph.examples.count(), len(answers)) == (7, 4, 8)
    assert {verdict for answer in answers for verdict in answer.n_of} == set(
        map(str, CitationVerdict)
    )
    assert sum(answer.n_na for answer in answers) == 1
    assert [answer.response.key for answer in answers if not answer.facts] == ["graph-4.t7"]


def test_each_report_on_the_graph_has_figures(demo):
    """Two setups of the files and twelve of the extractive model, nine of them with less knowledge.

    Of the files three answers had a triple removed; of the others three questions of three runs,
    at three steps.
    """
    graph = Dataset.objects.get(name="Demo graph")

    made = (citations_report, alignment_report, incompetence_report, quality_report)
    assert [len(report(graph).rows) for report in made] == [14, 14, 11, 4 * 2]
    assert sum(row["n_answers"] for row in incompetence_report(graph).records) == 3 + 3 * 3 * 3


def test_every_answer_about_the_graph_can_be_rated(demo):
    """None of 47 answers is left out: 8 are from the files and 39 from the extractive model."""
    graph = Dataset.objects.get(name="Demo graph")

    plan = plan_units(planned(graph, arms=["separate", "merged"]))

    shown = dict(graphs_of(graph.responses.all(), "shown"))
    merged = [unit for unit in plan.units if unit.arm == "merged"]
    assert sum(unit.arm == "separate" for unit in plan.units) == plan.n_responses == 47
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


def test_one_study_is_open_and_unrated_with_raters_enough_for_both_arms(demo):
    study = Study.objects.get(name="Demo: rate these yourself")

    assert study.state == Study.State.OPEN
    assert not Vote.objects.filter(arm__study=study).exists()
    # 28 examples, two setups with evidence, five raters each: alone, and both together.
    assert {arm.kind: arm.n_units for arm in study.arms.all()} == {"separate": 56, "merged": 28}
    assert study.assignments.count() == (56 + 28) * 5
    assert not any(need.n_missing for need in rater_needs(study))
    assert claim_next_unit(study.raters.get(user__username="rater")) is not None


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
    for study in Study.objects.exclude(name="Demo: rate these yourself"):
        assert study.raters.count() >= 10
        assert not study.raters.filter(is_simulated=False).exists()
        assert all(
            code.startswith("simulated-") for code in study.raters.values_list("code", flat=True)
        )
        assert "simulated" in study.name
        assert "simulated" in study.guidelines.get().text


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
    with django_assert_max_num_queries(5):
        load_again()


def test_what_was_deleted_comes_back_without_touching_the_rest(load_again):
    before = counts()
    Vote.objects.filter(arm__study__name=SENSIBLENESS).delete()
    Study.objects.get(name=SENSIBLENESS).delete()

    said = load_again()

    assert counts() == before | {"AuditEntry": before["AuditEntry"] + 1}  # one more import
    assert said == f"study: {SENSIBLENESS}\n"


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
