"""Searches for a prompt, as jobs: what is tried, kept, taken up again, and found."""

import pytest

from annotation.models import Vote
from annotation.ordering import share_is_drawn
from evaluation.backends.registry import BACKENDS
from evaluation.jobs.kinds import JOBS
from evaluation.jobs.services import JobError, cancel_job, resume_job
from evaluation.measures.sensibleness import instructions_of
from evaluation.metrics.auto_ssa import SsaPrompt, usual_prompt
from evaluation.models import Job
from evaluation.runs.prompts import prompts_for
from evaluation.runs.services.prompt_search import SearchPlan, request_prompt_search, slice_of
from generation.model_specs import ModelSpec
from generation.models import Checkpoint
from tests.evaluation.told_language_model import BACKEND
from tests.makers import example_row, import_rows, response_row, scheme_of, vote_row
from tests.tiny_language_models import tiny_causal

pytestmark = pytest.mark.once

SSA = scheme_of({"sensible": "yes_no", "specific": "yes_no"}, specific={"after": ["sensible"]})
# Response → yes votes of five: rater scores 1, .8, .2, 0.
COOL = {"c-one": 5, "c-two": 4, "c-three": 1, "c-four": 0}


@pytest.fixture
def study(tmp_path):
    return ssa_study(tmp_path / "pilot", {"cool": COOL, "warm": {"w-one": 3}})


def ssa_study(folder, slices, **more):
    """Import a study of yes votes of five: setup → response → number."""
    votes = {key: n for responses in slices.values() for key, n in responses.items()}
    setup_of = {key: setup for setup, responses in slices.items() for key in responses}
    outcome = import_rows(
        folder,
        folder.name,
        examples=[example_row(f"e-{key}", dialog=f"e-{key}") for key in votes],
        responses=[response_row(key, f"e-{key}", setup=setup_of[key]) for key in votes],
        votes=[
            vote_row(key, f"w{number}", "yes" if number <= n else "no", "sensible")
            for key, n in votes.items()
            for number in range(1, 6)
        ],
        scheme=SSA,
        **more,
    )
    assert outcome.study is not None
    return outcome.study


def plan(study, **more):
    spec = ModelSpec(BACKEND, "told", "http://127.0.0.1:9")
    return SearchPlan(**{"study": study, "setup": "cool", "metric": "sensible"} | more, spec=spec)


def searched(study, **more):
    return work(request_prompt_search(plan(study, **{"name": "better"} | more), None))


def work(job):
    claim = JOBS.claim(job.pk)
    assert claim is not None
    JOBS.do(claim)
    job.refresh_from_db()
    return job


def n_shown(prompt):
    return prompt.count("Answer:")


def asked_about(prompt):
    """Return the key of the last response in a prompt."""
    return prompt.rpartition("Text of ")[2].partition(".")[0]


def rater_score(prompt):
    return COOL[asked_about(prompt)] / 5


def test_a_search_follows_the_rules_and_keeps_every_prompt(study, told_model):
    """The model is off by .4 without a demonstration, by .2 with one, by .3 with two.

    So the first example in order is kept (errors .04 against .16), and no second one.
    """
    off = [0.4, 0.2, 0.3]

    def reply(prompt):
        true = rater_score(prompt)
        return f" Answer: {true + off[n_shown(prompt)] * (1 if true < 0.5 else -1):.2f} ###"

    model = told_model(reply)

    job = searched(study)

    assert job.state == Job.State.DONE, job.error
    steps = [step.content for step in job.steps.all()]
    first = job.parameters["data"]["examples"][0][1]
    assert [len(step["demonstrations"]) for step in steps] == [0, 1, 2, 2, 2]
    assert [step["is_kept"] for step in steps] == [True, True, False, False, False]
    assert [step["mse"] for step in steps] == pytest.approx([0.16, 0.04, 0.09, 0.09, 0.09])
    assert [step["mse_before"] for step in steps[1:]] == pytest.approx([0.16, 0.04, 0.04, 0.04])
    assert steps[1]["demonstrations"] == job.result["demonstrations"] == [first]
    assert len(model.asked) == job.result["n_calls"] == 4 + 3 + 2 + 2 + 2
    assert (job.result["mse"], job.result["mse_first"]) == pytest.approx((0.04, 0.16))


def test_what_a_prompt_shows_is_never_asked_about_with_it(study, told_model):
    model = told_model(lambda prompt: " Answer: 0.5 ###")

    searched(study)

    for prompt in model.texts:
        preamble, _, asked = prompt.rpartition("Dialog:")
        assert f"Text of {asked_about(asked)}." not in preamble


def test_the_prompt_begins_with_the_instructions_of_the_paper_and_shows_rater_scores(
    study, told_model
):
    told_model(lambda prompt: f"{rater_score(prompt) if n_shown(prompt) else 0.5}")

    job = searched(study, seed=3)

    [(_, key, score)] = job.parameters["data"]["examples"][:1]
    assert job.result["text"] == (
        f"{instructions_of('sensible')} Dialog: A: Question of e-{key}? "
        f"Final reply: B: Text of {key}. ### Answer: {score} ###"
    )
    first = job.steps.first()
    assert first.content["text"] == instructions_of("sensible")


def test_a_smaller_search_has_the_first_examples_of_a_larger_one(study, told_model):
    told_model(lambda prompt: "0.5")
    every = slice_of(plan(study, name="a")).examples

    job = searched(study, n_examples=3)

    assert [tuple(each) for each in job.parameters["data"]["examples"]] == every[:3]
    assert slice_of(plan(study, name="a", n_examples=3)).most_calls == 9
    assert job.result["n_calls"] == 9
    orders = {tuple(slice_of(plan(study, name="a", seed=seed)).examples) for seed in range(6)}
    assert len(orders) > 1


def test_replies_that_cannot_be_read_are_kept_with_their_text(study, told_model):
    model = told_model(lambda prompt: "maybe" if asked_about(prompt) == "c-two" else "0.5")

    job = searched(study)

    first = job.steps.first().content
    assert (first["n_scored"], first["n_failed"]) == (3, 1)
    assert first["scores"]["c-two"] is None
    assert "maybe" in first["problems"]["c-two"]
    # The first prompt, and those of the three others, ask about it: three times each. 16 replies,
    # of which 4 are asked for twice more.
    assert first["n_asked"] == 4 + 2
    assert job.result["n_calls"] == len(model.asked) == 16 + 4 * 2


def test_a_search_that_was_stopped_goes_on_behind_its_last_prompt(study, told_model):
    def count(prompt):
        if n_shown(prompt) and not stopped:
            stopped.append(True)
            cancel_job(job, None)
        return "0.5"

    stopped: list[bool] = []
    told_model(count)
    job = request_prompt_search(plan(study, name="better"), None)
    work(job)
    assert job.state == Job.State.CANCELLED
    n_before = job.steps.count()

    model = told_model(count)
    resume_job(job, None)
    work(job)

    assert n_before < 5
    assert (job.state, job.steps.count()) == (Job.State.DONE, 5)
    assert job.result["n_calls"] == 16
    assert len(model.asked) == 16 - sum(
        len(step.content["scores"]) for step in job.steps.all()[:n_before]
    )


def test_a_message_that_is_delivered_twice_is_one_search(study, told_model):
    model = told_model(lambda prompt: "0.5")
    job = request_prompt_search(plan(study, name="better"), None)

    JOBS.claim_and_do(job.pk)
    JOBS.claim_and_do(job.pk)

    job.refresh_from_db()
    assert (job.state, len(model.asked)) == (Job.State.DONE, 16)


def test_a_real_model_that_only_says_one_thing_keeps_no_demonstration(study, tmp_path):
    folder = tiny_causal(tmp_path / "tiny", always=" 0.5", context=2048)
    spec = ModelSpec("language-model", "tiny", str(folder))

    job = work(request_prompt_search(plan(study, name="better")._replace(spec=spec), None))

    assert job.state == Job.State.DONE, job.error
    assert (job.result["demonstrations"], job.result["n_calls"]) == ([], 16)
    # Half a point is .5, .3, .3 and .5 away from the raters.
    assert job.result["mse"] == pytest.approx((0.25 + 0.09 + 0.09 + 0.25) / 4)
    assert job.result["revision"]


def test_a_model_of_the_hub_stays_at_the_commit_of_the_first_prompt(study, told_model, monkeypatch):
    commit = "1" * 40
    model = told_model(lambda prompt: "0.5", revision=commit)
    opened = []

    def noting(spec):
        opened.append(spec.revision)
        return model

    monkeypatch.setitem(BACKENDS, BACKEND, BACKENDS[BACKEND]._replace(open=noting))
    Checkpoint.objects.create(name="told", backend=BACKEND, location="attest/told")

    job = searched(study)
    Job.objects.filter(pk=job.pk).update(state=Job.State.CANCELLED)
    resume_job(job, None)
    work(job)

    assert opened == ["", commit]
    assert Checkpoint.objects.get().revision == commit


def test_another_model_than_before_is_refused(study, told_model):
    told_model(lambda prompt: "0.5", revision="one")
    job = request_prompt_search(plan(study, name="better"), None)
    Job.objects.filter(pk=job.pk).update(
        result={"backend_signature": "told", "revision": "one"}, state=Job.State.CANCELLED
    )
    resume_job(job, None)
    told_model(lambda prompt: "0.5", revision="two")

    work(job)

    assert job.state == Job.State.FAILED
    assert "started with told one" in job.error


def test_the_found_prompt_is_offered_after_the_usual_one(study, told_model):
    told_model(lambda prompt: f"{rater_score(prompt) if n_shown(prompt) else 0.5}")
    request_prompt_search(plan(study, name="waits"), None)

    job = searched(study)

    [usual, found] = prompts_for("sensible")
    assert usual == usual_prompt("sensible")
    assert found == SsaPrompt("better", job.result["text"], "cool", study.dataset.slug)
    assert prompts_for("specific") == [usual_prompt("specific")]
    assert prompts_for("auto_ais") == []


def test_a_finished_search_is_not_the_answer_where_votes_have_changed(study, told_model):
    told_model(lambda prompt: "0.5")
    job = searched(study)
    assert request_prompt_search(plan(study, name="better"), None) == job

    Vote.objects.filter(target__response__key="c-four").update(answer=1)

    with pytest.raises(JobError, match=r"search ended on .*Delete it to start again") as refused:
        request_prompt_search(plan(study, name="better"), None)
    assert refused.value.field == "name"
    assert Job.objects.get().result == job.result


def test_what_may_have_stopped_early_is_no_example_and_counted(study, told_model):
    study.stops_when_decided, study.full_share, study.seed = True, 0.5, 1
    study.save()
    full = [key for key in COOL if share_is_drawn(1, f"e-{key}", "full", 0.5)]
    assert 0 < len(full) < len(COOL)

    found = slice_of(plan(study, name="a"))

    assert {key for _, key, _ in found.examples} == set(full)
    assert found.n_outside_full_share == len(COOL) - len(full)


@pytest.mark.parametrize(
    ("choices", "said"),
    [
        ({"name": "a b"}, "expected up to 60 letters"),
        ({"name": "paper"}, "Attest itself uses the name"),
        ({"metric": "fluency"}, "asks sensible, specific; expected fluency"),
        ({"setup": "hot"}, "pilot has no setup 'hot'. It has: cool, warm"),
        (
            {"setup": "warm"},
            "Found 1 of the rated responses of warm that can be used; expected 2 or more",
        ),
        ({"spec": ModelSpec("lexical")}, "Only a language model can be given"),
    ],
)
def test_a_search_that_cannot_be_is_refused_in_one_line(study, told_model, choices, said):
    told_model(lambda prompt: "0.5")
    wanted = plan(study, name="better")._replace(**choices)

    with pytest.raises(JobError, match=said):
        request_prompt_search(wanted, None)

    assert not Job.objects.exists()


def test_responses_without_text_are_left_out_and_counted(tmp_path, told_model):
    told_model(lambda prompt: "0.5")
    study = ssa_study(tmp_path / "gaps", {"cool": COOL})
    study.dataset.responses.filter(key="c-one").update(text=" ")

    found = slice_of(plan(study, name="a"))

    assert (len(found.examples), found.n_unusable) == (3, 1)
