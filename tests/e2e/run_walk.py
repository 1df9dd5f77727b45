"""Stops at the reports of studies, at metric runs and at disagreements."""

from collections.abc import Iterator
from pathlib import Path

from django.urls import reverse
from playwright.sync_api import Page, expect

from accounts.models import User
from annotation.models import GoldAnswer, Study, Target
from annotation.schemes import load_scheme
from evaluation.models import MetricRun
from evaluation.studies.services.adjudication import adjudicate
from generation.models import Checkpoint, Passage, Response
from tests.e2e.stops import ARABIC, LONG, SCRIPT, Stop, administrator
from tests.evaluation.makers_of_scores import MILL, disputed, make_run, make_score, make_scores
from tests.evaluation.metric_runs import cancelled, done, failed, mill, requested, work
from tests.evaluation.studies.few_labels import few_labels
from tests.evaluation.studies.hand_made import COOL, WARM, two_arms
from tests.evaluation.studies.pages.address import NAMES
from tests.makers import example_row, import_rows, rated, response_row, scheme_of


def report_stops(folder: Path, user: User) -> Iterator[Stop]:
    """Yield reports of studies of every kind, folded and unfolded."""
    arms = {f"c{n}": ("nnn", "yyy") for n in range(9)} | {f"w{n}": ("yyy", "yyn") for n in range(9)}
    both = two_arms(folder / "arms", arms, setups={k: COOL if k[0] == "c" else WARM for k in arms})
    make_scores(make_run(both.dataset), {key: n / 18 for n, key in enumerate(arms)})
    scheme = scheme_of({"stars": {"ordinal": [1, 5]}, "kind": {"nominal": ["a", "b", SCRIPT[:60]]}})
    many = {f"r{n}": {"stars": ["2", "4"], "kind": ["a", SCRIPT[:60]]} for n in range(6)}
    scales = rated(
        folder / "scales",
        many,
        name="Scales",
        scheme=scheme,
        setups={key: f"{SCRIPT[:40]} {key}" for key in many},
        scores=[{"response": key, "metric": SCRIPT[:60], "score": "0.5"} for key in many],
    )
    for name, study in (("threshold choice", both), ("threshold choice, none scored", scales)):
        yield Stop(name, user, reverse("evaluation:threshold-choice", args=[study.slug]))
    for study in (both, scales):
        plan = reverse("evaluation:plan", args=[study.dataset.slug])
        yield Stop(f"plan, {study.name}, no pilot", user, plan)
        for goal in ("mean", "arms"):
            address = f"{plan}?pilot={study.slug}&goal={goal}&icc=0.2"
            yield Stop(f"plan, {study.name}, {goal}", user, address)
        for name in NAMES:
            path = reverse(f"evaluation:{name}", args=[study.slug])
            unfold = open_all_and_chart if name == "study" else open_all
            yield Stop(f"{name}, {study.name}", user, path)
            yield Stop(f"{name}, {study.name}, unfolded", user, path, unfold)
    drawn = few_labels(folder / "drawn")
    for key in ("prediction_powered", "comparison", "system_correlation"):
        yield Stop(key, user, reverse("evaluation:report-of-study", args=[drawn.slug, key]))


def open_all_and_chart(page: Page) -> None:
    open_all(page)
    expect(page.locator("[data-chart=scenarios] svg")).to_be_visible()


def run_stops(folder: Path, user: User) -> Iterator[Stop]:
    """Yield the pages of metric runs, in every state that looks different."""
    queue, new = reverse("evaluation:runs"), reverse("evaluation:start-run")
    models = reverse("evaluation:checkpoints")
    admin = administrator()
    dataset = mill(folder, n_responses=40)
    rows = [response_row(f"r{n}", setup=f"s{n}", text="" if n % 3 else SCRIPT) for n in range(9)]
    study = rated(folder / "judged", {"x": {"q": ["yes", "no"]}}, name="Judged")
    report = reverse("evaluation:study-metrics", args=[study.slug])
    yield Stop("runs, none", user, queue)
    yield Stop("report, no run", user, report)
    yield Stop("models, none", admin, models)
    yield Stop("models, refused", admin, models, add_nothing)
    Checkpoint.objects.create(name="deberta-nli", location="/srv/models/deberta-nli")
    server = {"backend": "openai", "location": "http://gpu.example.org/v1", "served_name": "m"}
    Checkpoint.objects.create(name="elsewhere", key_variable="OUR_API_KEY", **server)
    yield Stop("models", admin, models)
    yield Stop("models, a server", admin, models, choose_a_server)
    waiting = requested(dataset, user, flavor="v1")
    yield Stop("run, queued", user, reverse("evaluation:run", args=[waiting.pk]))
    ended = done(study.dataset, user)
    in_part = done(mill(folder, name="gaps", responses=rows), user)
    import_rows(
        folder / "elsewhere",
        "elsewhere",
        examples=[example_row()],
        responses=[response_row()],
        scores=[{"response": "r1", "metric": "win rate", "score": "7", "signature": SCRIPT}],
    )
    failed(dataset, str(folder / "nowhere"), user)
    cancelled(dataset, user, window=0)
    running = work(requested(dataset, user), 2)
    yield Stop("runs", user, queue)
    yield Stop("runs, to delete", user, f"{queue}?state=cancelled", ask_to_delete)
    yield Stop("runs, sorted", user, f"{queue}?sort=scores&metric=auto_ais")
    yield Stop("runs, none in this state", user, f"{queue}?state=running&dataset=gaps")
    for name, run in (("running", running), ("done", ended), ("failed in part", in_part)):
        yield Stop(f"run, {name}", user, reverse("evaluation:run", args=[run.pk]))
    yield Stop("run, one bar", user, reverse("evaluation:run", args=[running.pk]) + "?bin=6")
    yield from judged_stops(folder, user)
    yield Stop("failures", user, reverse("evaluation:run-failures", args=[in_part.pk]))
    yield Stop("failures, none", user, reverse("evaluation:run-failures", args=[ended.pk]))
    yield Stop("new run", user, f"{new}?study={study.slug}")
    yield Stop("new run, refused", user, new, start_without_window)
    yield Stop("new run, another metric", user, new, choose_sensible)
    yield Stop("new run, no model", user, f"{new}?metric=coherence")
    requested(study.dataset, user, flavor="v2")
    yield Stop("report, a run waits", user, report)


def judged_stops(folder: Path, user: User) -> Iterator[Stop]:
    """Yield the pages of a run by a language model, some of whose replies are not a score."""
    study = rated(folder / "said", {"x": {"q": ["yes", "no"]}, "y": {"q": ["no"]}}, name="Said")
    parameters = {"mode": "logprob", "repeats": 2, "prompt_text": f"{SCRIPT}\n{ARABIC}"}
    run = make_run(
        study.dataset,
        metric="coherence",
        signature="coherence|judge",
        parameters=parameters,
        model_name="judge",
        model_files={"model.safetensors": "ab" * 32},
        threshold=3.0,
    )
    replies = {"mode": "logprob", "replies": [SCRIPT, ARABIC], "integers": [4, 4], "weighted": 4.25}
    make_score(run, "x", 4.25, details=replies)
    make_score(run, "y", None, problem=SCRIPT, details=replies)
    MetricRun.objects.filter(pk=run.pk).update(backend="language-model")
    yield Stop("run, judged", user, reverse("evaluation:run", args=[run.pk]), open_all)
    yield Stop("failures, replies", user, reverse("evaluation:run-failures", args=[run.pk]))


def choose_a_server(page: Page) -> None:
    page.get_by_label("behind a server").check()
    expect(page.get_by_label("Name on the server")).to_be_visible()


def choose_sensible(page: Page) -> None:
    page.get_by_role("radio", name="Auto-SSA: sensible").check()
    expect(page.get_by_label("Window K")).to_have_count(0)


def disagreement_stops(folder: Path, user: User) -> Iterator[Stop]:
    """Yield the pages of disagreements and of scored responses, in every state."""
    study, run = disputed(folder)
    worklist = reverse("evaluation:disagreements", args=[study.slug])
    target = run.scores.get(target__response__key="r-miss").target
    case = reverse("evaluation:disagreement", args=[study.slug, target.pk])
    response = reverse("evaluation:response", args=[study.dataset.slug, target.response_id])
    Response.objects.filter(key="r-false").update(text=ARABIC)
    Response.objects.filter(key="r-far").update(text=SCRIPT)
    Passage.objects.filter(key="p-r-far").update(text=f"{MILL} {LONG}", title=SCRIPT)
    make_score(make_run(study.dataset, signature="failing"), "r-miss", None, problem=SCRIPT)
    of_run = f"?run={run.pk}"
    yield Stop("disagreements", user, worklist + of_run)
    yield Stop("disagreements, form", user, worklist + of_run, open_first_form)
    yield Stop("disagreements, not valid", user, worklist + of_run, keep_nothing)
    yield Stop("disagreements, kept", user, worklist + of_run, keep_first)
    yield Stop("disagreements, none adjudicated", user, f"{worklist}{of_run}&status=open")
    yield Stop("disagreements, nothing compared", user, worklist)
    bare = rated(folder / "no-runs", {"x": {"q": ["yes", "no"]}}, name="No runs")
    without_run = reverse("evaluation:disagreements", args=[bare.slug])
    yield Stop("disagreements, no run", user, without_run)
    yield Stop("tied, no run", user, f"{without_run}?kind=tied")
    yield Stop("tied", user, f"{worklist}{of_run}&kind=tied", open_first_form)
    decided = f"{without_run}?kind=tied&status=adjudicated"
    yield Stop("tied, none adjudicated", user, decided)
    even = Target.objects.get(response__key="r-even")
    question = load_scheme(study.scheme).questions[-1]
    adjudicate(study, even, question, 1, "Sentence 3 says so.", user)
    yield Stop("study, adjudicated", user, _page_of(study, "study", adjudicated="on"))
    for name in ("study-metrics", "study-methods", "threshold-choice"):
        address = _page_of(study, name, adjudicated="on", question=question.key)
        yield Stop(f"{name}, adjudicated", user, address)
    yield Stop("disagreement", user, case + of_run)
    yield Stop("response, scored", user, response)
    yield Stop("response, window", user, response + of_run)
    GoldAnswer.objects.create(study=study, target=target, question="attributable", answer=0)
    yield Stop("response, gold", user, response)


def _page_of(study: Study, name: str, **query: str) -> str:
    return reverse(f"evaluation:{name}", args=[study.slug], query=query)


def open_first_form(page: Page) -> None:
    page.locator(".case summary").first.click()


def add_nothing(page: Page) -> None:
    page.get_by_role("button", name="Add model").click()
    expect(page.locator(".hint--bad").first).to_be_visible()


def ask_to_delete(page: Page) -> None:
    page.get_by_role("button", name="Delete Auto-AIS").click()
    expect(page.get_by_role("dialog")).to_be_visible()


def start_without_window(page: Page) -> None:
    page.get_by_label("Window K").fill("")
    page.get_by_role("button", name="Start run").click()
    expect(page.locator(".hint--bad").first).to_be_visible()


def open_all(page: Page) -> None:
    page.evaluate("for (const part of document.querySelectorAll('details')) part.open = true")


def keep_nothing(page: Page) -> None:
    open_first_form(page)
    page.locator(".case form button").first.click()
    expect(page.locator(".case .hint--bad").first).to_be_visible()


def keep_first(page: Page) -> None:
    open_first_form(page)
    form = page.locator(".case form").first
    form.get_by_label("cannot be decided").check()
    form.get_by_label("Why").fill(f"{ARABIC} {SCRIPT}")
    form.get_by_role("button", name="Save decision").click()
    expect(page.locator(".decisions").first).to_be_visible()
