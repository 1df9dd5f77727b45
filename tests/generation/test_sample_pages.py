"""Pages, command and API of samples: who may, what is said, what it costs."""

import json
from functools import partial

import pytest
from django.core.management import call_command
from django.urls import reverse

from accounts.services import create_api_token
from generation.filters import FILTER_KEYS, Filters
from generation.models import Sample
from generation.sample_choices import SampleChoices
from generation.services.samples import SAMPLES, decide, request_sample
from tests.evaluation.commands import failure
from tests.makers import example_row, import_rows, statements
from tests.shown import shown

pytestmark = pytest.mark.once

TURNS = [
    {"speaker": "user", "text": "Who built the mill?"},
    {"speaker": "assistant", "text": "The monks of Ebrach."},
    {"speaker": "user", "text": "When did the mill close?"},
]
HTML = "<script>alert(1)</script>"
CHOSEN = {
    "filters": ["has-history", "exact-match"],
    "max_evidence_tokens": "300",
    "tokenizer": "white-space",
    "exact_match": "keep",
    "part": "all",
    "size": "2",
    "seed": "5",
    "split_seed": "0",
    "name": "pilot",
}


def mills(folder, n=3, **more):
    """Examples that every filter keeps, and one without history."""
    golden = [{"id": "p", "text": "It closed in the winter.", "golden": True}]
    good = {"turns": TURNS, "golden_answer": "in the winter", "evidence": golden} | more
    rows = [example_row(f"e{number}", **good) for number in range(n)]
    dataset = import_rows(folder, folder.name, examples=[*rows, example_row("alone")]).dataset
    assert dataset
    return dataset


@pytest.fixture
def dataset(tmp_path):
    return mills(tmp_path / "mills")


@pytest.fixture
def sample(dataset):
    made = request_sample(dataset, SampleChoices(name="pilot"), None)
    SAMPLES.claim_and_do(made.pk)
    return Sample.objects.get(pk=made.pk)


def url(name, *arguments):
    return reverse(f"generation:{name}", args=["mills", *arguments])


# --- asking for one -------------------------------------------------------------------------


def test_a_form_makes_the_sample_that_it_says(researcher, dataset, rosa):
    answer = researcher.post(url("new-sample"), CHOSEN)

    sample = Sample.objects.get()
    assert answer.url == url("sample", sample.pk)
    assert sample.requested_by == rosa
    assert sample.parameters["filters"]["on"] == ["has-history", "exact-match"]
    assert (sample.parameters["size"], sample.parameters["seed"]) == (2, 5)
    assert "Starts when a worker is free" in shown(researcher.get(answer.url)).text


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("size", "-1"),
        ("size", "many"),
        ("seed", "-1"),
        ("seed", str(2**31)),
        ("part", "test"),
        ("filters", ["no-such-filter"]),
        ("max_evidence_tokens", "0"),
        ("tokenizer", "gpt"),
        ("exact_match", "maybe"),
        ("name", "n" * 101),
    ],
)
def test_what_cannot_be_is_said_beside_its_field(researcher, dataset, field, value):
    answer = researcher.post(url("new-sample"), CHOSEN | {field: value})

    page = shown(answer)
    assert answer.status_code == 422
    [message] = page.messages
    assert "Nothing was drawn" in message
    [wrong] = page.parts("hint--bad")
    assert field == "filters" or wrong.text == page.errors[field]
    assert not Sample.objects.exists()


def test_a_refused_form_keeps_what_was_ticked(researcher, dataset):
    page = shown(researcher.post(url("new-sample"), CHOSEN | {"size": "x"}))

    assert page.fields["filters"] == ["has-history", "exact-match"]


def test_a_name_that_is_taken_by_another_draw_is_refused(researcher, dataset):
    researcher.post(url("new-sample"), CHOSEN)

    answer = researcher.post(url("new-sample"), CHOSEN | {"seed": "6"})

    assert answer.status_code == 422
    assert "drawn with other choices" in shown(answer).errors["name"]


# --- reading one ----------------------------------------------------------------------------


def test_the_table_says_what_each_filter_left(researcher, sample):
    page = shown(researcher.get(url("sample", sample.pk)))

    table = page.table("Filters")
    assert table.columns[:4] == ["Filter", "Dropped", "Remaining", "%"]
    assert [row[:4] for row in table.rows[:3]] == [
        ["All examples", "—", "4", "100.0"],
        ["has history", "1", "3", "75.0"],
        ["well-formed number of turns", "0", "3", "75.0"],
    ]
    assert "All 3 that are left; you asked for 100" in page.text


def test_what_is_off_or_cannot_judge_shows_a_dash_not_a_zero(researcher, tmp_path):
    dataset = mills(tmp_path / "mills", evidence=[])
    filters = Filters(on=tuple(key for key in FILTER_KEYS if key not in ("no-article",)))
    made = request_sample(dataset, SampleChoices(name="bare", filters=filters), None)
    SAMPLES.claim_and_do(made.pk)

    rows = shown(researcher.get(url("sample", made.pk))).table("Filters").rows

    assert ["short golden evidence not applicable", "—", "3"] in [row[:3] for row in rows]
    assert ["last turn does not mention “article” off", "—", "3"] in [row[:3] for row in rows]


def test_the_members_can_be_listed_by_what_was_decided(researcher, sample, rosa):
    first, second, third = sample.members.all()
    decide(first, "keep", "", rosa)
    decide(second, "drop", "It says nothing.", rosa)

    def listed(**chosen):
        table = shown(researcher.get(url("sample", sample.pk), chosen)).table("Examples")
        return list(zip(table.column("Example"), table.column("By hand"), strict=True))

    kept, dropped = (first.example.key, "kept"), (second.example.key, "dropped It says nothing.")
    assert listed(verdict="keep") == [kept]
    assert listed(verdict="drop") == [dropped]
    assert listed(verdict="open") == [(third.example.key, "open")]
    assert listed() == listed(verdict="x") == [kept, dropped, (third.example.key, "open")]


def test_a_failed_sample_says_why_and_can_be_tried_again(researcher, sample):
    Sample.objects.update(state="failed", error="OSError: the disk is full")

    [message] = shown(researcher.get(url("sample", sample.pk))).messages
    assert "OSError: the disk is full" in message
    answer = researcher.post(reverse("work:resume", args=["sample", sample.pk]))

    assert answer.url == url("sample", sample.pk)
    assert Sample.objects.get().state == "queued"


def test_progress_is_told_until_the_page_can_be_loaded_again(researcher, dataset):
    made = request_sample(dataset, SampleChoices(), None)

    assert "0 of at most 4 examples" in shown(researcher.get(url("sample", made.pk))).text
    SAMPLES.claim_and_do(made.pk)
    card = researcher.get(reverse("work:card", args=["sample", made.pk]))
    assert "work-changed" in card.headers["HX-Trigger"]


def test_nothing_yet_shows_the_way(researcher, dataset):
    [message] = shown(researcher.get(url("samples"))).messages
    assert "No samples" in message
    page = shown(researcher.get(reverse("generation:dataset", args=["mills"])))
    assert url("samples") in page.addresses


def test_a_sample_is_deleted_and_said_so(researcher, sample):
    answer = researcher.post(reverse("work:delete", args=["sample", sample.pk]), follow=True)

    assert any("pilot is deleted" in message for message in shown(answer).messages)
    assert not Sample.objects.exists()


# --- by hand --------------------------------------------------------------------------------


def test_an_example_is_shown_with_dialog_answer_and_evidence(researcher, sample):
    page = shown(researcher.get(url("verify-example", sample.pk, 1)))

    assert "The monks of Ebrach." in page.parts("dialog")[0].text
    [answer], [passage] = page.parts("response"), page.parts("passage")
    assert answer.text == "in the winter"
    assert passage.headings == ["It closed in the winter. golden"]
    assert "It closed in the winter." in passage.text
    assert "Example 1 of 3" in page.headings


def test_decisions_lead_through_what_is_open(researcher, sample, rosa):
    post = partial(researcher.post, follow=False)

    assert researcher.get(url("verify-sample", sample.pk)).url.endswith("/verify/1/")
    assert post(url("verify-example", sample.pk, 2), {"verdict": "keep"}).url.endswith("/3/")
    dropped = post(
        url("verify-example", sample.pk, 3), {"verdict": "drop", "reason": "It says nothing."}
    )
    assert dropped.url.endswith("/1/")  # begins again at the start
    assert post(url("verify-example", sample.pk, 1), {"verdict": "keep"}).url == url(
        "sample", sample.pk
    )
    assert researcher.get(url("verify-sample", sample.pk)).url == url("sample", sample.pk)

    third = sample.members.get(position=3)
    assert (third.verdict, third.reason, third.by) == ("drop", "It says nothing.", rosa)
    page = shown(researcher.get(url("verify-example", sample.pk, 3)))
    assert page.fields["reason"] == "It says nothing."
    assert "dropped by rosa" in page.text


@pytest.mark.parametrize("sent", [{"verdict": "drop"}, {"verdict": "drop", "reason": " "}])
def test_a_drop_without_a_reason_is_asked_for_one(researcher, sample, sent):
    answer = researcher.post(url("verify-example", sample.pk, 1), sent)

    assert answer.status_code == 422
    assert "Say why" in shown(answer).errors["reason"]
    assert not sample.members.exclude(verdict="").exists()


@pytest.mark.parametrize("sent", [{}, {"verdict": ""}, {"verdict": "maybe"}])
def test_what_is_no_verdict_changes_nothing(researcher, sample, sent, rosa):
    decide(sample.members.get(position=1), "keep", "", rosa)

    assert researcher.post(url("verify-example", sample.pk, 1), sent).status_code == 422
    assert sample.members.get(position=1).verdict == "keep"


def test_html_in_the_data_is_shown_as_text(researcher, tmp_path):
    turns = [{"speaker": HTML, "text": HTML}, *TURNS[1:]]
    golden = [{"id": HTML, "text": HTML, "title": HTML, "golden": True}]
    dataset = mills(tmp_path / "mills", 1, turns=turns, golden_answer=HTML, evidence=golden)
    made = request_sample(dataset, SampleChoices(name=HTML, filters=Filters()), None)
    SAMPLES.claim_and_do(made.pk)
    decide(made.members.get(position=1), "drop", HTML, None)

    for page in (url("samples"), url("sample", made.pk), url("verify-example", made.pk, 1)):
        answer = researcher.get(page)
        assert "<script>alert" not in answer.text
        assert HTML in shown(answer).text


# --- who may, and what it costs -------------------------------------------------------------


def test_a_sample_of_another_dataset_is_not_found(researcher, sample, tmp_path):
    mills(tmp_path / "other")

    for name, *more in (("sample",), ("verify-sample",), ("verify-example", 1)):
        address = reverse(f"generation:{name}", args=["other", sample.pk, *more])
        assert researcher.get(address).status_code == 404
    assert researcher.get(url("verify-example", sample.pk, 4)).status_code == 404
    assert researcher.get("/data/none/samples/").status_code == 404


def test_raters_and_strangers_stay_outside(client, rachel, client_for, sample):
    rater = client_for(rachel)

    for page in (
        url("samples"),
        url("new-sample"),
        url("sample", sample.pk),
        url("verify-sample", sample.pk),
        url("verify-example", sample.pk, 1),
    ):
        assert rater.get(page).status_code == 403
        assert "/sign-in/" in client.get(page).url
    for page in (
        reverse("work:resume", args=["sample", sample.pk]),
        reverse("work:delete", args=["sample", sample.pk]),
    ):
        assert rater.post(page).status_code == 403
        assert "/sign-in/" in client.post(page).url
    assert sample.members.count() == 3


def test_reading_never_writes_and_what_writes_is_posted(researcher, sample):
    for name in ("samples", "sample", "verify-sample"):
        arguments = [] if name == "samples" else [sample.pk]
        assert researcher.post(url(name, *arguments)).status_code == 405
    assert researcher.put(url("verify-example", sample.pk, 1)).status_code == 405


def test_pages_cost_the_same_for_2_and_for_20_examples(researcher, tmp_path):
    def cost(name, n):
        made = request_sample(mills(tmp_path / name, n), SampleChoices(), None)
        SAMPLES.claim_and_do(made.pk)
        pages = [
            reverse("generation:samples", args=[name]),
            reverse("generation:sample", args=[name, made.pk]),
            reverse("generation:verify-example", args=[name, made.pk, 1]),
        ]
        return [len(statements(partial(researcher.get, page))) for page in pages]

    assert cost("few", 2) == cost("many", 20)


# --- command --------------------------------------------------------------------------------


def test_the_command_prints_the_cascade(dataset, capsys):
    call_command("filter_qrecc", "mills", "--sample", "2", "--off", "no-article")

    lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert lines[:3] == ["filter dropped left %", "all examples 4 100.0", "has history 1 3 75.0"]
    assert "last turn does not mention “article” off 3 75.0" in lines
    assert lines[-1] == "2 by seed 0, without no-article: 2 of 3 examples drawn."


def test_the_command_prints_json_and_does_nothing_twice(dataset, capsys):
    for _ in range(2):
        call_command("filter_qrecc", "mills", "--sample", "0", "--format", "json")
    first, second = capsys.readouterr().out.splitlines()

    assert first == second
    printed = json.loads(first)
    assert (printed["n"], printed["n_passed"], printed["n_drawn"]) == (4, 3, 3)
    assert printed["rows"][0] == {
        "filter": "has-history",
        "is_on": True,
        "is_applicable": True,
        "n_not_applicable": 0,
        "n_dropped": 1,
        "n_left": 3,
        "share": 0.75,
    }
    assert Sample.objects.get().name == "all that pass"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["no such"], "There is no dataset 'no such'. There are: mills"),
        (["mills", "--sample", "-1"], "--sample: found -1; expected 0 to 1000000"),
        (["mills", "--seed", "-1"], "--seed: found -1; expected 0 to 2147483647"),
        (["mills", "--off", "odd"], "argument --off: invalid choice: 'odd'"),
        (
            ["mills", "--name", "taken"],
            "has a sample named “taken” that was drawn with other choices",
        ),
    ],
)
def test_the_command_says_in_a_line_what_is_wrong(dataset, arguments, said):
    request_sample(dataset, SampleChoices(name="taken", size=1), None)

    assert said in failure("filter_qrecc", *arguments)
    assert Sample.objects.count() == 1


# --- API ------------------------------------------------------------------------------------


@pytest.fixture
def api(rosa, client):
    client.defaults["HTTP_AUTHORIZATION"] = f"Bearer {create_api_token(rosa, 'tests')}"
    return client


def ask(api, **asked):
    return api.post("/api/v1/samples/", asked, content_type="application/json")


def test_a_sample_is_asked_for_drawn_and_read_by_api(api, dataset):
    wanted = {"dataset": "mills", "name": "pilot", "filters": ["has-history"], "size": 2}
    answer = ask(api, **wanted)

    asked = answer.json()
    assert answer.status_code == 202
    assert answer["Location"].endswith(f"/api/v1/samples/{asked['id']}/")
    assert (asked["state"], asked["rows"]) == ("queued", [])
    assert ask(api, **wanted).json()["id"] == asked["id"]  # the same again

    SAMPLES.claim_and_do(asked["id"])

    read = api.get(f"/api/v1/samples/{asked['id']}/").json()
    assert (read["state"], read["n"], read["n_examples"], read["n_open"]) == ("done", 4, 2, 2)
    assert (read["rows"][0]["n_dropped"], read["rows"][0]["share"]) == (1, 0.75)
    assert api.get("/api/v1/samples/", {"dataset": "mills"}).json()["results"] == [read]
    members = api.get(f"/api/v1/samples/{asked['id']}/examples/").json()["results"]
    assert [member["position"] for member in members] == [1, 2]
    assert {member["verdict"] for member in members} == {""}


@pytest.mark.parametrize(
    ("asked", "field"),
    [
        ({"dataset": "none"}, "dataset"),
        ({}, "dataset"),
        ({"dataset": "mills", "filters": ["x"]}, "filters"),
        ({"dataset": "mills", "sise": 3}, "sise"),
        ({"dataset": "mills", "name": "taken"}, "name"),
    ],
)
def test_the_api_says_which_field_is_wrong(api, dataset, asked, field):
    request_sample(dataset, SampleChoices(name="taken", size=1), None)

    answer = ask(api, **asked)

    assert answer.status_code == 400
    assert field in answer.json()


def test_the_api_lists_samples_at_the_same_cost(api, dataset):
    def cost():
        return len(statements(lambda: api.get("/api/v1/samples/")))

    ask(api, dataset="mills", seed=1)
    cost()
    of_one = cost()
    for seed in range(2, 6):
        ask(api, dataset="mills", seed=seed)

    assert cost() == of_one
