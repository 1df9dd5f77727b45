"""The form of a new metric run: what each metric offers, and which models can be used."""

import json

import pytest

from evaluation.backends.registry import BACKENDS
from evaluation.metrics.registry import METRICS
from evaluation.models import Job, MetricRun
from generation.models import Checkpoint
from tests.evaluation.metric_runs import mill, work
from tests.evaluation.pages import run_choices
from tests.makers import response_row, statements
from tests.shown import shown

pytestmark = pytest.mark.once

NEW = "/metrics/new/"
SEEN = {"seen_calls": "1000"}  # the plan that the person has seen has no more calls
CLASSIFIER = {"architectures": ["BertForSequenceClassification"]}


@pytest.fixture
def dataset(tmp_path):
    return mill(tmp_path)


# --- another metric -------------------------------------------------------------------------


@pytest.fixture
def models():
    """One listed model of each kind, called by it."""
    kinds = [key for key, kind in BACKENDS.items() if kind.needs_model]
    Checkpoint.objects.bulk_create(
        Checkpoint(name=f"m-{k}", backend=k, location="a/b") for k in kinds
    )


@pytest.mark.parametrize("key", METRICS)
def test_each_metric_is_offered_with_its_own_choices_alone(researcher, dataset, models, key):
    kind = METRICS[key]

    page = shown(researcher.get(NEW, {"metric": key}))

    found = page.fields
    assert found["metric"] == found["shown"] == key
    metrics = page.choices("metric")
    assert all(other.lede in metrics[name] for name, other in METRICS.items())
    baselines = [name for name in kind.backends if not BACKENDS[name].needs_model]
    listed = sorted(f"m-{name}" for name in kind.backends if BACKENDS[name].needs_model)
    assert [*page.choices("model")] == baselines + listed
    backend = baselines[0] if baselines else ""
    own = [option.name for option in kind.options_for(backend)]
    always = {"csrfmiddlewaretoken", "over", "metric", "shown"}
    always |= {"model", "threshold", "sample", "seed"}
    if backend == "" and listed == ["m-language-model", "m-openai"]:  # the first is chosen
        always |= {"most_calls", "most_tokens", "most_cost"}
    always |= {"controls"} if kind.controls else set()
    assert set(found) - always - {"precision"} == {*own, *["evidence"] * kind.needs_evidence}
    assert float(found["threshold"]) == kind.threshold
    scale = f"from {kind.scale[0]:g} to {kind.scale[1]:g}"
    assert scale in page.part("id_threshold_helptext").text
    assert found["sample"] == ("" if kind.usual_sample is None else str(kind.usual_sample))


def test_text_quality_begins_with_100_responses_of_each_model(researcher, dataset, models):
    found = shown(researcher.get(NEW, {"metric": "coherence"})).fields

    assert found["sample"] == "100"  # KaLMA, 4.1
    assert found["threshold"] == "3.0"  # the middle of 1 to 5
    assert found["repeats"] == "3"


def test_baselines_are_called_so(researcher, dataset):
    def models(**asked):
        return shown(researcher.get(NEW, asked)).choices("model")

    assert models()["added_words"] == "Added words, a baseline"
    assert models()["lexical"] == "Word overlap, a baseline"
    assert models(metric="sensible")["heuristic"].endswith("a baseline near chance")


def test_another_metric_keeps_what_is_scored_and_begins_anew(researcher, dataset, models):
    chosen = run_choices(
        metric="coherence", shown="auto_ais", threshold="0.9", model="m-openai", seed="7"
    )

    answer = researcher.get(NEW, chosen, headers={"HX-Request": "true"})

    page = shown(answer)
    found = page.fields
    assert (found["threshold"], found["seed"]) == ("3.0", "0")
    assert (found["model"], found["over"]) == ("m-openai", "dataset:mill")
    assert found["shown"] == "coherence"
    assert page.errors == {}
    assert 'aria-invalid="true"' not in answer.text


def test_nothing_starts_whose_choices_were_not_seen(researcher, dataset):
    answer = researcher.post(NEW, run_choices(metric="sensible", shown="auto_ais"))

    assert answer.status_code == 422
    page = shown(answer)
    [message] = page.messages
    assert "choices of Auto-SSA: sensible" in message
    assert page.fields["shown"] == "sensible"
    assert not MetricRun.objects.exists()


def test_without_a_script_a_button_shows_the_choices_of_another_metric(researcher, dataset):
    chosen = run_choices(metric="sensible", shown="auto_ais", show="1", csrfmiddlewaretoken="x")

    answer = researcher.post(NEW, chosen)

    assert answer.status_code == 302
    assert "csrf" not in answer.url
    assert "show=" not in answer.url
    found = shown(researcher.get(answer.url)).fields
    assert found["metric"] == "sensible"
    assert "flavor" not in found


def test_a_metric_that_no_listed_model_can_answer_says_so(researcher, adam, client_for, dataset):
    answer = researcher.get(NEW, {"metric": "specific"})

    page = shown(answer)
    [message] = page.messages
    assert message.startswith("No model for this metric yet")
    assert "Language model, run here" in message
    assert "Start run" not in page.buttons
    assert "/metrics/models/" not in answer.text
    to_adam = shown(client_for(adam).get(NEW, {"metric": "specific"}))
    assert "/metrics/models/" in to_adam.addresses
    assert researcher.post(NEW, run_choices(metric="specific")).status_code == 422


def test_sensible_needs_no_evidence_and_is_a_yes_from_its_threshold_on(researcher, dataset):
    researcher.post(
        NEW,
        {
            "over": "dataset:mill",
            "metric": "sensible",
            "model": "heuristic",
            "threshold": "0.5",
            "seed": "0",
            "controls": "0",
        },
    )

    run = MetricRun.objects.get()
    assert (run.metric, run.backend, run.is_yes_at_threshold) == ("sensible", "heuristic", True)
    assert "evidence" not in run.parameters


# --- precision, samples, prompts ------------------------------------------------------------


def test_bf16_is_a_choice_where_the_backend_offers_it(researcher, dataset, models):
    def form(model, **more):
        return shown(researcher.get(NEW, run_choices(model=model, **more)))

    assert [*form("m-transformers").choices("precision")] == ["fp32", "bf16"]
    assert form("m-transformers", precision="bf16").fields["precision"] == "bf16"
    assert "precision" not in form("lexical").fields
    assert "precision" not in form("lexical", precision="bf16").fields

    researcher.post(NEW, run_choices(model="m-transformers", precision="bf16") | SEEN)

    run = MetricRun.objects.get()
    assert run.parameters["precision"] == "bf16"
    assert "|bf16|" in run.signature


def test_a_sample_is_so_many_responses_of_each_model(researcher, tmp_path):
    rows = [
        response_row(f"r{n}", setup={"model": "ab"[n % 2], "run": str(n)}, evidence_shown=["p1"])
        for n in range(12)
    ]
    mill(tmp_path, responses=rows)

    def to_score(**more):
        return shown(researcher.get(NEW, run_choices(sample="4", **more))).part("to-score").text

    assert to_score().startswith("A worker scores 8 responses")  # 4 of each of two models
    researcher.post(NEW, run_choices(sample="4", seed="3"))

    run = work(MetricRun.objects.get())
    assert run.scores.count() == 8
    assert "|sample:4@3|" in run.signature
    assert to_score(seed="3").startswith("A worker scores 0 responses")


def test_a_prompt_that_a_search_has_found_can_be_chosen(researcher, dataset, models):
    assert "prompt" not in shown(researcher.get(NEW, {"metric": "sensible"})).fields
    Job.objects.create(
        kind="prompt_search",
        name="search-1",
        state="done",
        parameters={"metric": "sensible"},
        result={
            "prompt": "search-1",
            "text": "Rate it.\n###",
            "built_on": "slice-a",
            "built_on_dataset": "pilot",
        },
    )
    prompts = shown(researcher.get(NEW, {"metric": "sensible"})).choices("prompt")
    assert [*prompts] == ["paper", "search-1"]
    assert prompts["search-1"].startswith("search-1, built on slice-a")

    chosen = {"metric": "sensible", "model": "m-openai", "prompt": "search-1"}
    researcher.post(NEW, run_choices(**chosen) | SEEN)

    run = MetricRun.objects.get()
    assert run.parameters["prompt_text"] == "Rate it.\n###"
    assert run.parameters["built_on"] == "slice-a"


# --- models that cannot be used -------------------------------------------------------------


@pytest.mark.parametrize(
    ("files", "said"),
    [
        (None, "its folder does not exist here"),
        ({"config.json": "{}"}, "expected weights as .safetensors"),
        ({"config.json": "{}", "model.safetensors": "half"}, "expected a complete file"),
    ],
)
def test_a_model_whose_files_are_gone_or_not_whole_is_refused_at_its_field(
    researcher, dataset, tmp_path, files, said
):
    folder = tmp_path / "secret-place"
    if files is not None:
        folder.mkdir()
        for name, text in files.items():
            (folder / name).write_text(text)
    Checkpoint.objects.create(name="mini", location=str(folder))

    answer = researcher.post(NEW, run_choices(model="mini"))

    assert answer.status_code == 422
    error = shown(answer).errors["model"]
    assert "mini" in error
    assert said in error
    assert "secret-place" not in answer.text
    assert not MetricRun.objects.exists()
    # The form also says so while the researcher still chooses.
    choosing = shown(researcher.get(NEW, run_choices(model="mini")))
    assert said in choosing.part("to-score").text


def whole_model(folder, **config):
    """Write the files of a model of 1,000 numbers of four bytes."""
    header = json.dumps(
        {"w": {"dtype": "F32", "shape": [1000], "data_offsets": [0, 4000]}}
    ).encode()
    folder.mkdir(exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config))
    weights = len(header).to_bytes(8, "little") + header + bytes(4000)
    (folder / "model.safetensors").write_bytes(weights)
    return str(folder)


@pytest.mark.parametrize(
    ("metric", "backend", "config", "said"),
    [
        (
            "auto_ais",
            "transformers",
            {"architectures": ["BertModel"]},
            "mini: found BertModel; expected a kind that ends in ForSequenceClassification.",
        ),
        ("auto_ais", "seq2seq", {}, "mini: found no architecture; expected a kind that ends in"),
        (
            "sensible",
            "language-model",
            CLASSIFIER,
            "mini: found BertForSequenceClassification; expected",
        ),
        (
            "sensible",
            "distilled",
            CLASSIFIER | {"id2label": {"0": "specific"}},
            "mini was trained for specific, so it cannot score sensible.",
        ),
    ],
)
def test_a_model_of_the_wrong_kind_is_refused_by_page_and_api(
    researcher, dataset, tmp_path, metric, backend, config, said
):
    location = whole_model(tmp_path / "secret-place", **config)
    Checkpoint.objects.create(name="mini", backend=backend, location=location)

    by_page = researcher.post(NEW, run_choices(metric=metric, model="mini"))
    asked = {"dataset": dataset.slug, "metric": metric, "model": "mini"}
    by_api = researcher.post("/api/v1/runs/", asked, content_type="application/json")

    assert by_page.status_code == 422
    assert shown(by_page).errors["model"].startswith(said)
    assert by_api.status_code == 400
    assert said in by_api.json()["model"][0]
    assert "secret-place" not in by_page.text + by_api.text
    assert not MetricRun.objects.exists()


def test_a_model_that_is_too_large_for_this_machine_is_left_to_the_workers(
    researcher, dataset, tmp_path, monkeypatch
):
    whole_model(tmp_path, **CLASSIFIER)
    Checkpoint.objects.create(name="mini", location=str(tmp_path))
    monkeypatch.setattr("evaluation.runs.model_checks.GPUS", str(tmp_path / "none"))
    monkeypatch.setattr("evaluation.runs.model_checks.free_memory", lambda: 3999)

    hint = "mini: the model is too large"
    assert hint in shown(researcher.get(NEW, run_choices(model="mini"))).part("to-score").text
    half_the_bytes = run_choices(model="mini", precision="bf16")
    assert hint not in shown(researcher.get(NEW, half_the_bytes)).text

    researcher.post(NEW, run_choices(model="mini") | SEEN)
    assert MetricRun.objects.exists()


def test_the_form_costs_the_same_for_1_model_and_for_20(researcher, dataset):
    def cost(names):
        Checkpoint.objects.bulk_create(Checkpoint(name=n, location="a/b") for n in names)
        return len(statements(lambda: researcher.get(NEW)))

    assert cost(["one"]) == cost([f"m{n}" for n in range(19)])
