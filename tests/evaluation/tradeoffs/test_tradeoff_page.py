"""The page of a trade-off: figure, filters, table, warnings, and what it says where parts miss."""

import pytest
from django.urls import reverse
from django.utils.http import urlencode

from annotation.models import Vote
from evaluation.models import AutoScore, MetricRun
from evaluation.runs.budget import Budget
from evaluation.runs.choices import model_called, plan_of
from evaluation.runs.services.runs import request_metric_run
from evaluation.tradeoffs.axes import axes_of, usual
from evaluation.tradeoffs.scorers import usual_plan
from evaluation.tradeoffs.services.reranking import rerank
from evaluation.tradeoffs.services.saved_views import save_view
from generation.models import Checkpoint, Dataset, ExamplePassage, Response
from tests.evaluation.metric_runs import work
from tests.evaluation.tradeoffs.imported_setups import LARGE, SMALL, imported, rows
from tests.makers import example_row, import_rows, rated, response_row, scheme_of
from tests.shown import shown

pytestmark = pytest.mark.once


@pytest.fixture
def dataset(tmp_path) -> Dataset:
    return imported(tmp_path / "own", "own")


@pytest.fixture
def see(rosa, client_for):
    """Return a function from choices to what the page shows."""
    client = client_for(rosa)

    def see(dataset, **choices):
        there = reverse("tradeoffs:tradeoff", args=[dataset.slug])
        return shown(client.get(f"{there}?{urlencode(choices, doseq=True)}"))

    return see


def table(page):
    """Return the numbers of the table: prompt, model, T → attribution, sensibleness, F1."""
    return {tuple(row[:3]): tuple(row[3:]) for row in page.table("Setups").rows}


def marks(page):
    """Return the marks of the drawing for desks."""
    [drawing] = page.parts("plot--desk")
    return drawing.parts("dot")


def test_figure_1_shows_all_setups_best_f1_first(dataset, see):
    page = see(dataset)

    # F1 = 2SA / (S + A): 2 · ¾ · 1 / (¾ + 1) = 0.857; 2 · ¾ · ¾ / 1½ = 0.75; 2 · ¾ · ½ / 1¼ = 0.6;
    # 2 · ¼ · ¾ / 1 = 0.375.
    assert list(table(page).items()) == [
        (("Golden", "540B", "0.0"), ("0.75", "1.00", "0.857")),
        (("One-shot, golden", "540B", "0.0"), ("0.75", "0.75", "0.750")),
        (("Golden", "8B", "0.0"), ("0.75", "0.50", "0.600")),
        (("No evidence", "540B", "0.7"), ("0.25", "0.75", "0.375")),
    ]
    assert len(marks(page)) == 4
    assert "History + golden evidence" in page.text


def test_a_page_is_called_by_the_name_of_its_view_and_says_what_it_counts(dataset, see, rosa):
    page = see(dataset, figure=2, model=LARGE)

    assert page.headings[0] == "Golden evidence"
    assert "Figure 2 of the paper" in page.text
    # Of the single setups' three prompt types, golden and one-shot have the golden evidence.
    assert "shares labelled yes · M 540B · both temperatures · 2 of 3 prompt types" in page.text
    save_view(dataset, "Ours", "figure=2", rosa)
    assert see(dataset, figure=2).headings[0] == "Ours"


def test_a_mark_and_its_row_lead_to_the_responses_of_the_setup(dataset, see, rosa, client_for):
    setup = dataset.setups.get(model=SMALL)
    there = reverse("tradeoffs:responses", args=[dataset.slug, setup.pk])
    page = see(dataset)
    assert page.addresses.count(there) == 3  # its marks for desks and phones, and its row

    page = shown(client_for(rosa).get(there, {"said": "both"}))

    # Of yyyn and yynn, the first two are both.
    assert page.table().column("Text") == ["Text of r0-0.", "Text of r0-1."]
    assert "1 to 2 of 2" in page.text


def test_boxes_filter_marks_and_table_and_stand_in_the_address(dataset, see):
    page = see(dataset, own=1, model=LARGE, temperature=["0", "0.7"], prompt=["golden", "one-shot"])

    assert {title for title, *_ in table(page)} == {"Golden", "One-shot, golden"}
    assert page.part("view").fields["model"] == [LARGE]
    assert SMALL in page.choices("model")
    # What is saved and exported says the same in fewer words, without `own`.
    assert "own" not in page.fields["address"]
    again = see(dataset, model=[LARGE], prompt=["golden", "one-shot"], clusters=0)
    assert table(again) == table(page)


def test_nothing_matches(dataset, see):
    page = see(dataset, own=1)

    assert table(page) == {}
    [message] = page.parts("callout")
    assert "No setup matches" in message.text
    assert list(message.links) == ["Reset to Four clusters"]


def test_htmx_gets_the_fragment_and_a_short_address(dataset, rosa, client_for):
    there = reverse("tradeoffs:tradeoff", args=[dataset.slug])
    everything = {
        "own": 1,
        "figure": 1,
        "model": [SMALL, LARGE],
        "temperature": ["0"],
        "prompt": ["golden", "no-evidence", "one-shot"],
        "clusters": 1,
        "x_from": "",
        "x_to": "",
        "y_from": "",
        "y_to": "",
    }

    answer = client_for(rosa).get(there, everything, headers={"HX-Request": "true"})

    assert b"<html" not in answer.content
    assert answer["HX-Push-Url"] == f"{there}?temperature=0"


def test_a_zoom_is_taken_or_refused_beside_its_field(dataset, see):
    here = reverse("tradeoffs:tradeoff", args=[dataset.slug])
    page = see(dataset, x_from="0.5", x_to="1", y_from="0.4", y_to="0.8")
    assert len(marks(page)) == 2  # (0.75, 0.5) and (0.75, 0.75)
    assert "2 setups are outside" in page.text

    page = see(dataset, x_from="0.8", x_to="0.2")
    assert "Expected at least 0.805." in page.part("tradeoff-x_to-error").text
    assert len(marks(page)) == 4
    # Figure 2 is zoomed by itself; without a zoom it says so.
    whole = see(dataset, figure=2).links["Show all"]
    assert whole == f"{here}?figure=2&x_from=&x_to=&y_from=&y_to="


def test_what_is_not_there_any_more_is_said_and_the_usual_is_taken(dataset, see):
    page = see(dataset, figure="9", model="gone", measure="median", k="many")

    for name, said in (("figure", "9"), ("model", "gone"), ("measure", "median")):
        assert said in page.part(f"tradeoff-{name}-error").text
    assert len(table(page)) == 4


def test_mean_scores_are_of_the_same_examples(dataset, see):
    # Attribution of the small model: (3 · 0.9 + 0.1) / 4 = 0.7; sensibleness 0.5.
    assert table(see(dataset, measure="score"))["Golden", "8B", "0.0"][:2] == ("0.70", "0.50")


def test_intervals_stand_in_the_table_where_asked_for(dataset, see):
    # All four are sensible: Wilson's lower end, with t(3) = 3.18, is 4 / (4 + 3.18²) = 0.28.
    assert table(see(dataset, intervals=1))["Golden", "540B", "0.0"][1] == "1.00 .28–1.0"
    assert table(see(dataset))["Golden", "540B", "0.0"][1] == "1.00"


def test_figure_2_lists_its_bands_of_f1(dataset, see):
    # F1 of the small model 0.6; of the large one 0.857 and 0.75, (6/7 + 3/4) / 2 = 0.804.
    assert see(dataset, figure=2).table("F1 by model").rows == [
        ["M 8B", "0.0", "1", "0.600", "0.600", "0.600"],
        ["M 540B", "0.0", "2", "0.804", "0.750", "0.857"],
    ]
    assert len(see(dataset).tables) == 1


def test_a_figure_without_marks_says_what_is_missing_and_where_it_is_made(
    dataset, see, rosa, client_for
):
    for figure, said, address in (
        (4, "No restricted context yet", "tradeoffs:restricted"),
        (7, "Nothing is re-ranked yet", "tradeoffs:reranking"),
    ):
        page = see(dataset, figure=figure)

        [box] = page.parts("empty")
        assert box.headings == [said]
        assert box.addresses == [reverse(address, args=[dataset.slug])]
        assert not any("figure.svg" in each for each in page.addresses)
        for name, *more in (("figure", "svg"), ("table", "csv"), ("methods",)):
            there = reverse(f"tradeoffs:{name}", args=[dataset.slug, *more])
            assert client_for(rosa).get(there, {"figure": figure}).status_code == 404


def test_figure_7_says_so_where_its_model_is_the_large_one_too(dataset, see):
    axes = usual(axes_of(dataset))
    assert axes
    pool = [dataset.setups.get(model=LARGE, prompt=p).name for p in ("golden", "one-shot")]
    rerank(dataset, axes, pool, "max-attribution")

    assert see(dataset, figure=6).parts("empty") == []
    page = see(dataset, figure=7)
    assert [box.headings for box in page.parts("empty")] == [["No smaller model"]]
    assert not any("figure.svg" in each for each in page.addresses)


def test_marks_chosen_by_an_axis_are_warned_of_until_another_judges(dataset, see):
    MetricRun.objects.filter(metric="auto_ais").update(signature="first")  # the model's name
    axes = usual(axes_of(dataset))
    assert axes
    pool = [dataset.setups.get(model=LARGE, prompt=p).name for p in ("golden", "one-shot")]
    rerank(dataset, axes, pool, "max-attribution")
    other = MetricRun.objects.create(dataset=dataset, metric="auto_ais", signature="second")
    first = AutoScore.objects.filter(run=axes.attribution.run)
    AutoScore.objects.bulk_create(AutoScore(run=other, target=s.target, score=0.9) for s in first)

    assert "Too optimistic" not in see(dataset).text  # figure 1 has single setups alone
    page = see(
        dataset,
        aggregate="max-attribution",
        attribution=axes.attribution.key,
        sensibleness=axes.sensibleness.key,
    )
    chosen = "from 2 setups by auto_ais, 2 calls per example"
    assert page.text.count(chosen) == 3  # its marks, and its row
    assert (f"Max attribution {chosen}", "540B", "0.0") in table(page)
    [warning] = page.parts("callout")
    assert "Too optimistic: the axis’s own metric chose these marks" in warning.text
    assert "Attribution: Max attribution (M 540B T 0.0)." in warning.text
    assert any(f"attribution=run-{other.pk}" in address for address in warning.addresses)
    assert "Sensibleness: Max attribution" not in page.text  # it only decides ties

    own = {"aggregate": "max-attribution"}
    page = see(dataset, **own, attribution=f"run-{other.pk}", sensibleness=axes.sensibleness.key)
    assert "Too optimistic" not in page.text
    [note] = page.parts("callout")
    assert "The same metric, with another model, chose these marks." in note.text
    assert "Attribution: Max attribution (M 540B T 0.0)." in note.text


def test_responses_without_a_label_are_counted(dataset, see):
    AutoScore.objects.filter(run__metric="sensible", target__response__key="r1-3").delete()

    page = see(dataset)

    # Of the other three of yyny, two are attributable; n stands in the table where it differs.
    assert table(page)["Golden", "540B", "0.0"] == ("3", "0.67", "1.00", "0.800")
    assert "share over up to 4 examples" in page.text
    assert "1 response of these setups" in page.text


def test_a_run_that_is_not_done_is_said(dataset, see):
    run = MetricRun.objects.get(metric="sensible")
    MetricRun.objects.filter(pk=run.pk).update(state=MetricRun.State.RUNNING)

    page = see(dataset)

    [message] = page.parts("callout")
    assert "Still being scored" in message.text
    assert message.addresses == [reverse("evaluation:run", args=[run.pk])]


def test_without_axes_the_runs_to_start_are_offered(tmp_path, see):
    made = rows()
    made["scores"] = [row for row in made["scores"] if row["metric"] == "auto_ais"]
    dataset = import_rows(tmp_path / "half", "half", **made).dataset
    assert dataset

    page = see(dataset)

    start = reverse("evaluation:start-run")
    assert f"{start}?dataset={dataset.slug}&metric=sensible" in page.addresses
    assert not any("metric=auto_ais" in address for address in page.addresses)
    [message] = page.messages
    assert "no labels for sensibleness" in message


def test_one_click_scores_for_both_axes_and_the_page_waits(tmp_path, see, rosa, client_for):
    """Clicking again changes nothing, and only what a new response lacks is scored later."""
    made = rows()
    del made["scores"]
    dataset = import_rows(tmp_path / "bare", "bare", **made).dataset
    assert dataset
    researcher, address = client_for(rosa), reverse("tradeoffs:score", args=[dataset.slug])
    [message] = see(dataset).messages
    assert "no labels for attribution and sensibleness" in message
    assert "Start both" in see(dataset).buttons

    for _ in range(2):
        answer = researcher.post(address, {"side": ["attribution", "sensibleness"]})
        assert answer.url == reverse("tradeoffs:tradeoff", args=[dataset.slug])
        assert [run.metric for run in MetricRun.objects.order_by("pk")] == ["auto_ais", "sensible"]
    waiting = researcher.get(answer.url)
    assert 'hx-trigger="every 3s"' in waiting.text
    assert "Start both" not in shown(waiting).buttons
    n_scores = dataset.responses.count()
    for run in MetricRun.objects.all():
        work(run)
        assert run.scores.count() == n_scores
    assert usual_plan(dataset, "attribution").evidence == "golden"
    assert len(marks(see(dataset))) == 4

    assert "have these scores already" in str(researcher.post(address, follow=True).text)
    dataset.responses.order_by("pk")[0].targets.all().delete()
    researcher.post(address)
    assert MetricRun.objects.filter(state="running").count() == MetricRun.objects.count() == 2

    MetricRun.objects.all().delete()
    ExamplePassage.objects.update(is_golden=False)
    assert usual_plan(dataset, "attribution").evidence == "shown"


def test_what_asks_a_model_is_planned_first_and_keeps_its_budget(tmp_path, rosa, client_for):
    made = rows()
    del made["scores"]
    dataset = import_rows(tmp_path / "bare", "bare", **made).dataset
    assert dataset
    Checkpoint.objects.create(name="judge", backend="openai", location="http://127.0.0.1:1/v1")
    plan = plan_of("sensible", model_called("judge"), budget=Budget(most_calls=9))
    run = request_metric_run(dataset, plan, dataset.responses.filter(setup__model=SMALL), rosa)
    researcher, address = client_for(rosa), reverse("tradeoffs:score", args=[dataset.slug])

    [planned] = shown(researcher.post(address)).tables
    assert "judge" in planned.rows[0][0]
    assert MetricRun.objects.get() == run

    researcher.post(address, {"seen_calls": "99999"})
    run.refresh_from_db()
    assert [each.metric for each in MetricRun.objects.order_by("pk")] == ["sensible", "auto_ais"]
    assert run.budget["most_calls"] == 9


def test_without_responses_the_page_says_so(tmp_path, see):
    dataset = import_rows(tmp_path / "bare", "bare", examples=[example_row()]).dataset

    assert "No responses yet" in see(dataset).headings


def test_the_list_says_what_each_dataset_has(
    dataset, tmp_path, rosa, client_for, django_assert_num_queries
):
    import_rows(
        tmp_path / "b", "bare", examples=[example_row()], responses=[response_row(setup="s")]
    )
    client = client_for(rosa)
    client.get(reverse("tradeoffs:tradeoffs"))

    # User, groups; responses, setups, views, runs, studies, datasets.
    with django_assert_num_queries(8):
        answer = client.get(reverse("tradeoffs:tradeoffs"))

    table = shown(answer).table("Datasets")
    assert table.column("Dataset") == ["bare", "own"]
    assert table.row("bare")["Axes"] == "nothing yet for attribution and sensibleness"
    assert table.row("own")["Axes"] == "both"


def test_a_question_without_a_rule_for_yes_makes_no_side(tmp_path, rosa, client_for):
    scheme = scheme_of({"sensible": {"nominal": ["a", "b"]}})
    study = rated(tmp_path / "b", {"r1": {"sensible": ["a"]}}, name="bare", scheme=scheme)
    # The scheme does not say which of its two answers is the yes.
    assert not axes_of(study.dataset)

    row = shown(client_for(rosa).get(reverse("tradeoffs:tradeoffs"))).table("Datasets").row("bare")

    assert row["Axes"] == "nothing yet for attribution and sensibleness"


def test_an_arm_without_votes_makes_no_side(tmp_path, rosa, client_for):
    study = rated(tmp_path / "b", {"r1": {"attributable": ["yes"]}}, name="bare")
    study.arms.create(kind="merged")
    assert [axis.key for axis in axes_of(study.dataset)] == [f"{study.slug}/separate/attributable"]
    Vote.objects.all().delete()
    assert not axes_of(study.dataset)

    row = shown(client_for(rosa).get(reverse("tradeoffs:tradeoffs"))).table("Datasets").row("bare")

    assert row["Axes"] == "nothing yet for attribution and sensibleness"


def test_menus_of_axes_begin_with_those_of_their_side(dataset, see):
    page = see(dataset)

    groups = {name: page.groups_of(name) for name in ("attribution", "sensibleness")}

    assert groups["attribution"] == {
        "Metrics of attribution": ["auto_ais t:0.5 (imported)"],
        "Other metrics": ["sensible t:0.5 (imported)"],
    }
    assert list(groups["sensibleness"]) == ["Metrics of sensibleness", "Other metrics"]


def test_queries_do_not_grow_with_setups(
    dataset, tmp_path, rosa, client_for, django_assert_max_num_queries
):
    more = [
        (f"M {n}B", 0.0, prompt, "yyny", "ynyy")
        for n in range(6)
        for prompt in ("golden", "random")
    ]
    other = imported(tmp_path / "more", "more", more)
    client = client_for(rosa)

    for each in (dataset, other):
        with django_assert_max_num_queries(22):
            client.get(reverse("tradeoffs:tradeoff", args=[each.slug]))
    assert Response.objects.filter(dataset=other).count() == 48
