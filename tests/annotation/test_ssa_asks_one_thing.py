"""SSA: form, help, guideline and Auto-SSA's prompt ask about sensibleness by the same criteria.

The expected words are those of the attribution/fluency paper, 9.4.
"""

import copy

import pytest
from django.urls import reverse

from annotation.guidelines import default_guideline
from annotation.schemes import built_in_schemes, load_scheme
from annotation.services.studies import create_study, open_study
from evaluation.metrics.auto_ssa import usual_prompt
from tests.annotation.planned import make_dataset, make_raters, plan_for
from tests.published import shared_folder
from tests.shown import shown

REASONABLE = "completely reasonable in context"
OFF = "confusing, illogical, out of context, lacks common sense"
PAPER = shared_folder() / "seeds" / "003_e6980c69f71442db.txt"


def sensible():
    return load_scheme(built_in_schemes()["SSA"]).question("sensible")


def test_these_are_the_paper_s_words():
    if not PAPER.is_file():
        pytest.skip(f"no {PAPER}")
    printed = " ".join(PAPER.read_text("utf-8").split())
    prompt = printed.partition("9.4 Final Sensibleness Prompt ")[2]

    assert f"Is the response {REASONABLE}? Then rate it as ’1.0’." in prompt
    assert f"If anything seems off — {OFF} — then reduce the rating" in prompt


def test_form_guideline_and_prompt_ask_for_the_same():
    for said in (sensible().wording, default_guideline("SSA"), usual_prompt("sensible").text):
        assert REASONABLE in said


def test_help_guideline_and_prompt_give_the_same_reasons_for_a_no():
    for said in (sensible().help, default_guideline("SSA"), usual_prompt("sensible").text):
        assert OFF in said


def test_a_wrong_fact_is_a_reason_in_none_of_them_and_the_guideline_says_so():
    for said in (sensible().wording, sensible().help, usual_prompt("sensible").text):
        assert "factual" not in said

    assert "leaves 'factually wrong' out, and so do we" in default_guideline("SSA")


@pytest.fixture
def older_scheme():
    """The scheme as studies have it that were begun before."""
    scheme = copy.deepcopy(built_in_schemes()["SSA"])
    scheme["questions"][0]["wording"] = "Does the response make sense in the dialog?"
    scheme["questions"][0]["help"] = "If anything seems off (factually wrong), answer no."
    return scheme


@pytest.mark.once
def test_an_older_study_keeps_its_words_and_a_new_one_has_the_new(
    tmp_path, rosa, client_for, older_scheme
):
    dataset = make_dataset(tmp_path)
    raters = make_raters(5)
    older = plan_for(dataset, name="Older", scheme=older_scheme)
    newer = plan_for(dataset, name="Newer", scheme=built_in_schemes()["SSA"])

    pages = {}
    for plan, text in ((older, "Older rules.\n"), (newer, default_guideline("SSA"))):
        study = create_study(plan, text, raters, rosa)
        open_study(study, rosa)
        address = reverse("annotation:guidelines", args=[study.slug])
        pages[plan.name] = shown(client_for(rosa).get(address)).text

    assert "Does the response make sense in the dialog?" in pages["Older"]
    assert "factually wrong), answer no." in pages["Older"]
    assert "Older rules." in pages["Older"]
    assert REASONABLE not in pages["Older"]
    assert f"is it {REASONABLE}?" in pages["Newer"]
    assert f"({OFF}), answer no." in pages["Newer"]
