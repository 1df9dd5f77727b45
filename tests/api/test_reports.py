"""The reports of studies by API."""

import json
from io import StringIO

import pytest
from django.core.management import call_command

from annotation.models import Study
from evaluation.studies.reports.study import ON_PAGE
from tests.makers import rated

pytestmark = pytest.mark.once


@pytest.fixture
def study(tmp_path):
    """A study of both arms, two setups and three raters."""
    votes = {f"r{n}": {"q": ["yes", "yes", "no"], "p": ["no", "yes", "no"]} for n in range(6)}
    merged = [
        {"response": f"r{n}", "rater": f"m{m}", "question": q, "answer": "yes", "arm": "merged"}
        | {"position": n % 2 + 1, "seconds": 10 + n}
        for n in range(6)
        for m in range(3)
        for q in ("q", "p")
    ]
    setups = {f"r{n}": ("cool", "warm")[n % 2] for n in range(6)}
    scores = [{"response": f"r{n}", "metric": "rouge", "score": n / 6} for n in range(6)]
    return rated(tmp_path / "s", votes, more_votes=merged, setups=setups, scores=scores)


def printed(report, *options):
    out = StringIO()
    call_command("report", report, "--study", "pilot", "--format", "json", *options, stdout=out)
    return json.loads(out.getvalue())


@pytest.mark.parametrize("report", [kind.key for kind in ON_PAGE])
def test_a_report_is_what_the_command_prints(read, study, report):
    answered = read(f"studies/{study.slug}/reports/{report}/")

    assert answered == printed(report)
    assert bool(answered["rows"]) == (report != "sensibleness")  # this metric was never run


@pytest.mark.parametrize(
    ("parameters", "options"),
    [
        ({"by_setup": "true"}, ["--by-setup"]),
        ({"with_implied": "1", "with_excluded": "true"}, ["--with-implied", "--with-excluded"]),
        ({"by_gates": "true"}, ["--by-gates"]),
        ({"setup": "warm"}, ["--setup", "warm"]),
        ({"truth": "merged"}, ["--truth", "merged"]),
        ({"with_implied": "false", "setup": ""}, []),
    ],
)
@pytest.mark.parametrize("report", ["raters", "agreement"])
def test_a_report_takes_the_choices_of_the_page(read, study, report, parameters, options):
    answered = read(f"studies/{study.slug}/reports/{report}/", **parameters)

    assert answered == printed(report, *options)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"setup": "none"}, "There is no setup 'none' here. There are: cool, warm."),
        ({"truth": "none"}, '"none" is not a valid choice.'),
        ({"with_implied": "maybe"}, "Must be a valid boolean."),
        ({"bysetup": "1"}, "There is no such parameter. The parameters are: by_setup,"),
    ],
)
def test_a_choice_that_means_nothing_is_refused(refused, study, parameters, message):
    [(parameter, [said])] = refused(f"studies/{study.slug}/reports/raters/", **parameters).items()

    assert parameter in parameters
    assert said.startswith(message)


def test_a_study_without_an_arm_says_so(refused, tmp_path):
    rated(tmp_path / "s", {"r1": {"q": ["yes"]}})

    assert refused("studies/pilot/reports/agreement/", truth="merged") == {
        "truth": ["There is no truth 'merged' here. There are: separate."]
    }


def test_another_report_is_not_found(api, study):
    answer = api.get(f"/api/v1/studies/{study.slug}/reports/none/")

    assert answer.status_code == 404
    assert answer.json()["detail"].startswith("There is no report 'none'. The reports are: raters,")
    assert api.get("/api/v1/studies/none/reports/raters/").status_code == 404


def test_a_report_is_not_stale(read, study):
    address = f"studies/{study.slug}/reports/raters/"
    before = read(address)

    Study.objects.get().raters.filter(code="w1").update(is_excluded=True)

    assert read(address) != before
    assert read(address) == printed("raters")
