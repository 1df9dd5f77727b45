"""The choices of a run: plain values make a plan, or one error that names the field."""

import pytest

from evaluation.backends.registry import BACKENDS
from evaluation.measures.entailment import APART, AutoAis
from evaluation.metrics.auto_ais import AutoAisMetric
from evaluation.metrics.registry import METRICS
from evaluation.models import Job, MetricRun
from evaluation.runs.choices import all_options, model_called, models_for, plan_of, sample_of
from evaluation.runs.model_options import spec_from
from evaluation.runs.plan import RunPlan, spec_of
from generation.choices.declaration import ChoiceError
from generation.model_specs import ModelSpec
from generation.models import Checkpoint
from generation.services.checkpoints import as_listed_now

pytestmark = pytest.mark.once


@pytest.fixture(autouse=True)
def listed():
    Checkpoint.objects.create(name="nli", location="/m/nli", entailment_index=1)
    Checkpoint.objects.create(name="judge", backend="openai", location="http://j/v1")


def test_what_is_not_chosen_is_as_usual():
    apart = AutoAisMetric(AutoAis(APART))
    spec = ModelSpec("added_words")
    assert plan_of("auto_ais") == RunPlan(spec, apart, "shown", n_controls=200)
    assert plan_of("auto_ais", usual_evidence="golden").evidence == "golden"
    assert plan_of("sensible").spec == ModelSpec("heuristic")


def test_a_flavor_is_for_pairs_so_it_is_asked_of_the_first_backend_that_has_flavors():
    plan = plan_of("auto_ais", options={"flavor": "v1"})

    assert (plan.spec, plan.metric) == (ModelSpec("lexical"), AutoAisMetric(AutoAis("v1")))
    with pytest.raises(ChoiceError, match="by Added words, a baseline has no option flavor"):
        plan_of("auto_ais", ModelSpec("added_words"), options={"flavor": "v1"})


def test_every_choice_reaches_the_plan():
    plan = plan_of(
        "auto_ais",
        model_called("nli"),
        options={"flavor": "v1", "window": "0", "hypothesis": "mean"},
        precision="bf16",
        evidence="golden",
        threshold=0.25,
        n_sampled=10,
        seed=7,
        n_controls=30,
        chosen_by_votes_of="pilot",
    )

    spec = ModelSpec("transformers", "nli", "/m/nli", precision="bf16", entailment_index=1)
    metric = AutoAisMetric(AutoAis("v1", 0, "mean"))
    wanted = RunPlan(spec, metric, "golden", 0.25, 10, 7, n_controls=30)
    assert plan == wanted._replace(chosen_by_votes_of="pilot")


def refused(*choices, **more) -> tuple[str, str]:
    with pytest.raises(ChoiceError) as caught:
        plan_of(*choices, **more)
    return caught.value.field, str(caught.value)


@pytest.mark.parametrize(
    ("metric", "choices", "field", "said"),
    [
        ("rouge", {}, "metric", "There is no metric 'rouge'. The metrics are: auto_ais,"),
        ("fluency", {}, "model", "needs a model. Name one."),
        (
            "auto_ais",
            {"options": {"mode": "x"}},
            "mode",
            "Auto-AIS has no option mode. Its options",
        ),
        ("auto_ais", {"options": {"prompt": "paper"}}, "prompt", "Auto-AIS has no option prompt."),
        (
            "auto_ais",
            {"options": {"flavor": "v4"}},
            "flavor",
            "Found 'v4'; expected one of v0, v1, v2, v3.",
        ),
        (
            "auto_ais",
            {"options": {"window": 1.5}},
            "window",
            "Found 1.5; expected a whole number from",
        ),
        (
            "auto_ais",
            {"options": {"window": "x"}},
            "window",
            "Found x; expected a whole number from 0",
        ),
        (
            "auto_ais",
            {"options": {"window": 51}},
            "window",
            "Found 51; expected a whole number from 0",
        ),
        ("sensible", {"options": {"prompt": "x"}}, "prompt", "Found 'x'; expected one of paper."),
        ("auto_ais", {"spec": ModelSpec("heuristic")}, "model", "Auto-AIS cannot use Words and"),
        ("auto_ais", {"precision": "bf16"}, "precision", "Found 'bf16'; expected fp32 for"),
        (
            "auto_ais",
            {"evidence": "all"},
            "evidence",
            "Found 'all'; expected one of shown, golden, re",
        ),
        ("sensible", {"evidence": "shown"}, "evidence", "looks at no evidence"),
        ("auto_ais", {"threshold": 1.5}, "threshold", "Found 1.5; expected a number from 0 to 1."),
        (
            "auto_ais",
            {"threshold": float("nan")},
            "threshold",
            "Found nan; expected a number from 0 to 1.",
        ),
        (
            "auto_ais",
            {"n_sampled": 0},
            "sample",
            "Found 0; expected a whole number from 1 to 1,000,000.",
        ),
        (
            "auto_ais",
            {"seed": -1},
            "seed",
            "Found -1; expected a whole number from 0 to 2,147,483,647.",
        ),
    ],
)
def test_what_does_not_go_together_is_refused_with_its_field(metric, choices, field, said):
    assert refused(metric, **choices)[0] == field
    assert said in refused(metric, **choices)[1]


def test_a_threshold_lies_on_the_scale_of_its_metric():
    judge = model_called("judge")

    assert plan_of("fluency", judge).cut == 3.0
    assert plan_of("fluency", judge, threshold=4.5).cut == 4.5
    assert refused("fluency", judge, threshold=0.5) == (
        "threshold",
        "Found 0.5; expected a number from 1 to 5.",
    )


def test_a_metric_is_offered_the_models_that_can_answer_it():
    assert [name for name, _ in models_for("auto_ais")] == [
        "added_words",
        "lexical",
        "judge",
        "nli",
    ]
    assert [name for name, _ in models_for("fluency")] == ["judge"]
    with pytest.raises(
        ChoiceError, match=r"no model 'none'. There are: added_words, lexical, .*nli"
    ):
        model_called("none")
    with pytest.raises(ChoiceError, match="no model 'transformers'"):
        model_called("transformers")


def test_a_prompt_that_a_search_has_found_comes_with_its_text():
    result = {"prompt": "mine", "text": "Say.\n###", "built_on": "cool"}
    result["built_on_dataset"] = "pilot"
    kind = Job.Kind.PROMPT_SEARCH
    about = {"metric": "sensible"}
    Job.objects.create(kind=kind, name="mine", state="done", parameters=about, result=result)

    plan = plan_of("sensible", model_called("judge"), options={"prompt": "mine"})

    assert plan.parameters["prompt_text"] == "Say.\n###"
    assert (plan.parameters["built_on_dataset"], plan.parameters["built_on"]) == ("pilot", "cool")
    assert "prompt:mine@" in plan.signature
    assert refused("specific", model_called("judge"), options={"prompt": "mine"})[0] == "prompt"


def test_a_run_of_the_heuristic_names_no_prompt():
    assert plan_of("sensible").signature.startswith("sensible|heuristic|t")
    assert "|prompt:paper@" in plan_of("sensible", model_called("judge")).signature


def test_a_sample_is_the_metric_s_own_unless_it_is_chosen():
    assert [sample_of("fluency", asked) for asked in (None, 0, 7)] == [100, None, 7]
    assert [sample_of("auto_ais", asked) for asked in (None, 0, 7)] == [None, None, 7]


def test_no_option_of_a_metric_is_called_like_a_choice_of_every_run():
    taken = {"study", "dataset", "metric", "model", "precision", "evidence", "threshold", "sample"}

    assert not {option.name for option in all_options()} & (taken | {"seed", "over"})


def test_every_metric_asks_backends_that_are_there():
    for metric in METRICS.values():
        assert set(metric.backends) <= set(BACKENDS)


# --- models of commands ---------------------------------------------------------------------


def named(**options):
    nothing = dict.fromkeys(["backend", "model", "server", "key_variable", "entailment_index"])
    return spec_from(nothing | {"key_over_http": False} | options)


def test_a_command_names_its_model_in_many_ways(tmp_path):
    assert named() is None
    assert named(backend="lexical") == ModelSpec("lexical")
    assert named(model="nli") == ModelSpec("transformers", "nli", "/m/nli", entailment_index=1)
    folder = tmp_path / "mine"
    folder.mkdir()
    assert named(backend="seq2seq", model=str(folder)) == ModelSpec("seq2seq", "mine", str(folder))
    assert named(backend="transformers", model="a/b@1f2e", entailment_index=2) == ModelSpec(
        "transformers", "a/b@1f2e", "a/b", "1f2e", entailment_index=2
    )
    assert named(server="https://s/v1", model="qwen", key_variable="KEY") == ModelSpec(
        "openai", "qwen", "https://s/v1", served_name="qwen", key_variable="KEY"
    )
    over_http = {"server": "http://s/v1", "key_variable": "KEY", "key_over_http": True}
    spec = named(model="qwen", **over_http)
    assert spec is not None
    assert spec.key_over_http


def test_a_run_keeps_the_leave_of_a_model_that_is_not_listed():
    spec = ModelSpec("openai", "m", "http://s/v1", key_variable="KEY", key_over_http=True)

    named = {"backend": "openai", "model_name": "m", "model_location": "http://s/v1"}
    run = MetricRun(**named, parameters=RunPlan(spec).parameters)

    assert as_listed_now(spec_of(run)) == spec
    Checkpoint.objects.create(name="m", backend="openai", location="http://s/v1")
    assert not as_listed_now(spec_of(run)).key_over_http  # listed since, and no admin allows it


@pytest.mark.parametrize(
    ("options", "field", "said"),
    [
        ({"model": "x"}, "model", "No listed model is named x (listed: judge, nli)."),
        ({"backend": "transformers"}, "model", "The backend transformers needs a model."),
        ({"backend": "lexical", "model": "x"}, "model", "The backend lexical uses no model."),
        ({"backend": "seq2seq", "model": "nli"}, "backend", "Found seq2seq; nli is listed for th"),
        ({"backend": "openai", "model": "x"}, "server", "x is not listed. Give the address of"),
        ({"server": "s", "model": "x"}, "server", "Found s; expected a server's address,"),
        ({"server": "http://s"}, "model", "The name of the model is missing."),
        (
            {"server": "http://s", "backend": "lexical", "model": "x"},
            "backend",
            "Found lexical; a server",
        ),
        ({"key_variable": "KEY"}, "key_variable", "A key is only for a server."),
        (
            {"server": "http://s", "model": "x", "key_variable": "KEY"},
            "key_over_http",
            "http://s: the key in KEY would go there unencrypted;",
        ),
        ({"backend": "lexical", "entailment_index": 1}, "entailment_index", "Only a model has"),
        ({"backend": "transformers", "model": "lexical"}, "model", "lexical is the name of"),
    ],
    ids=str,
)
def test_a_model_that_cannot_be_meant_is_refused(options, field, said):
    with pytest.raises(ChoiceError) as caught:
        named(**options)

    assert (caught.value.field, str(caught.value)[: len(said)]) == (field, said)
