"""Samples: filtered and drawn by a worker, the same under a seed, decided on by hand."""

import json
from datetime import timedelta

import pytest
from django.utils import timezone

from accounts.models import AuditEntry
from generation.filters import ALL_ON, FILTER_KEYS, Filters, cascade_rows
from generation.grids.plan import examples_of
from generation.limits import LONGEST_NAME
from generation.models import Dataset, Example, Grid, Sample, SampledExample
from generation.sample_choices import DEV, TRAIN, SampleChoices, choices_of
from generation.sample_reading import next_open
from generation.seeded_random import random_key
from generation.services import samples as services
from generation.services.samples import (
    SAMPLES,
    SampleError,
    decide,
    delete_sample,
    request_sample,
    retry_sample,
)
from tests.makers import example_row, forget, import_path, import_rows, statements
from tests.published import shared_folder

pytestmark = pytest.mark.both

EVERYTHING = SampleChoices(filters=Filters(), size=None)


def turns_of(*texts):
    speakers = ("user", "assistant")
    return [{"speaker": speakers[n % 2], "text": text} for n, text in enumerate(texts)]


def asked(*texts):
    return [{"speaker": "user", "text": text} for text in texts]


def made_of(folder, rows, name="pilot"):
    dataset = import_rows(folder, name, examples=rows).dataset
    assert dataset
    return dataset


@pytest.fixture
def thirty(tmp_path):
    """Thirty examples, ten conversations of three."""
    rows = [example_row(f"e{n:02}", dialog=f"d{n // 3}") for n in range(30)]
    return made_of(tmp_path / "thirty", rows)


def drawn(dataset, choices):
    sample = request_sample(dataset, choices, None)
    SAMPLES.claim_and_do(sample.pk)
    sample.refresh_from_db()
    return sample


def keys(sample):
    return list(sample.members.values_list("example__key", flat=True))


# --- filtering and drawing ------------------------------------------------------------------


def test_a_sample_holds_what_passes_and_the_table_says_what_was_dropped(tmp_path):
    history = turns_of("Who built the mill?", "Monks.", "When did the mill close?")
    golden = [{"id": "p", "text": "The mill closed in the winter of 1971.", "golden": True}]
    good = {"turns": history, "golden_answer": "in the winter of 1971", "evidence": golden}
    dataset = made_of(
        tmp_path,
        [
            example_row("good", **good),
            example_row("alone", **good | {"turns": turns_of("When did the mill close?")}),
            example_row("even", **good | {"turns": asked("Who?", "When?")}),
            example_row("twice", **good | {"turns": asked("Who?", "Why?", "When?")}),
            example_row("short", **good | {"golden_answer": "1971"}),
            example_row("vague", **good | {"turns": turns_of("Who?", "Monks.", "What else?")}),
            example_row("other", **good | {"golden_answer": "when it had been flooded"}),
            example_row("bare", **good | {"evidence": []}),
        ],
    )

    sample = drawn(dataset, SampleChoices())

    rows = {row.rule.key: row for row in cascade_rows(sample.cascade)}
    assert sample.state == Sample.State.DONE
    assert sample.cascade["n"] == 8
    assert {key: row.n_dropped for key, row in rows.items()} == {
        "has-history": 1,
        "odd-turns": 1,
        "no-question-after-question": 1,
        "long-answer": 1,
        "short-evidence": 0,
        "not-underspecified": 1,
        "no-article": 0,
        "exact-match": 1,
    }
    assert rows["exact-match"].n_not_applicable == 1  # no evidence, so not dropped
    assert sorted(keys(sample)) == ["bare", "good"]
    assert (sample.n_done, sample.n_total) == (8, 8)


def test_a_draw_is_the_same_in_every_database_and_contains_the_smaller_one(thirty):
    ten = drawn(thirty, SampleChoices(filters=Filters(), size=10, seed=7))
    five = drawn(thirty, SampleChoices(filters=Filters(), size=5, seed=7))
    other = drawn(thirty, SampleChoices(filters=Filters(), size=10, seed=8))

    by_hash = sorted((f"e{n:02}" for n in range(30)), key=lambda key: random_key(7, "sample", key))
    assert keys(ten) == by_hash[:10]
    assert keys(five) == keys(ten)[:5]
    assert keys(other) != keys(ten)


def test_a_sample_wider_than_what_is_left_holds_all_of_it(thirty):
    assert len(keys(drawn(thirty, SampleChoices(filters=Filters(), size=100)))) == 30
    assert len(keys(drawn(thirty, EVERYTHING))) == 30


def test_dev_and_train_share_no_conversation_whatever_the_draws_seed(tmp_path):
    rows = [example_row(f"e{n}", dialog=f"d{n // 2}") for n in range(400)]
    dataset = made_of(tmp_path, rows)

    dev = drawn(dataset, EVERYTHING._replace(part=DEV, name="dev"))
    train = drawn(dataset, EVERYTHING._replace(part=TRAIN, name="train", seed=5))
    again = drawn(dataset, EVERYTHING._replace(part=DEV, name="dev again", seed=9))

    dialogs = {
        sample.name: set(sample.members.values_list("example__dialog", flat=True))
        for sample in (dev, train)
    }
    assert set(keys(dev)) == set(keys(again))
    assert not dialogs["dev"] & dialogs["train"]
    assert len(dialogs["dev"] | dialogs["train"]) == 200
    # 20 of 200 are expected, with a standard deviation of 4.2.
    assert 8 <= len(dialogs["dev"]) <= 33
    assert dev.cascade["n"] == dev.members.count()  # % is of the part that is drawn from


def test_a_draw_forgets_what_does_not_fit_and_is_the_same_for_it(thirty, monkeypatch):
    whole = keys(drawn(thirty, SampleChoices(filters=Filters(), size=4, seed=3, name="whole")))
    monkeypatch.setattr(services, "SAVED_TOGETHER", 5)  # it keeps ten at most
    monkeypatch.setattr(services, "EXAMPLES_TOGETHER", 7)

    assert keys(drawn(thirty, SampleChoices(filters=Filters(), size=4, seed=3))) == whole


def test_filtering_costs_the_same_few_statements_for_each_batch(thirty, tmp_path, monkeypatch):
    monkeypatch.setattr(services, "EXAMPLES_TOGETHER", 10)
    few = made_of(tmp_path / "few", [example_row(f"x{n}") for n in range(10)], "few")

    def cost(dataset):
        sample = request_sample(dataset, EVERYTHING, None)
        return len(statements(lambda: SAMPLES.claim_and_do(sample.pk)))

    of_one, of_three = cost(few), cost(thirty)
    assert of_three - of_one == 2 * 4  # examples, turns, passages, sign of life


# --- messages that come twice, get lost, or come too late -----------------------------------


def test_a_second_delivery_changes_nothing(thirty):
    sample = drawn(thirty, SampleChoices(filters=Filters(), size=10))
    member = sample.members.first()
    assert member
    decide(member, "drop", "odd", None)
    before = list(sample.members.values_list())

    SAMPLES.claim_and_do(sample.pk)

    assert list(sample.members.values_list()) == before


def test_a_sample_that_is_deleted_meanwhile_is_not_missed(thirty):
    sample = request_sample(thirty, EVERYTHING, None)
    delete_sample(sample, None)

    SAMPLES.claim_and_do(sample.pk)

    assert not Sample.objects.exists()


def test_two_workers_at_once_store_it_once(thirty, monkeypatch):
    sample = request_sample(thirty, EVERYTHING, None)
    batches = services._batches

    def while_another_finishes(dataset_id):
        monkeypatch.setattr(services, "_batches", batches)
        yield from batches(dataset_id)
        SAMPLES.claim_and_do(sample.pk)

    monkeypatch.setattr(services, "_batches", while_another_finishes)
    SAMPLES.claim_and_do(sample.pk)

    assert sample.members.count() == 30


def test_a_sample_that_nobody_hears_of_is_sent_again_once(thirty, settings):
    settings.CHUNK_LEASE_SECONDS = 60
    silent = request_sample(thirty, EVERYTHING, None)
    lively = request_sample(thirty, EVERYTHING._replace(name="lively"), None)
    for sample in (silent, lively):
        assert SAMPLES.claim(sample.pk)
    a_while_ago = timezone.now() - timedelta(seconds=61)
    Sample.objects.filter(pk=silent.pk).update(lease_until=a_while_ago)

    assert SAMPLES.resend() == [silent.pk]
    assert SAMPLES.resend() == []


def test_times_from_before_the_clock_was_set_back_hold_nothing_up(thirty, settings):
    settings.CHUNK_LEASE_SECONDS = 60
    held = request_sample(thirty, EVERYTHING, None)
    waiting = request_sample(thirty, EVERYTHING._replace(name="waiting"), None)
    assert SAMPLES.claim(held.pk)
    in_an_hour = timezone.now() + timedelta(hours=1)
    Sample.objects.filter(pk=held.pk).update(lease_until=in_an_hour)
    Sample.objects.update(sent_at=in_an_hour)

    assert SAMPLES.resend() == [held.pk, waiting.pk]
    assert SAMPLES.claim(held.pk)
    assert SAMPLES.resend() == []


def test_what_cannot_be_filtered_says_why_and_can_be_tried_again(thirty, rosa, monkeypatch):
    sample = request_sample(thirty, EVERYTHING, rosa)

    def break_down(dataset_id):
        raise OSError("the disk is full")

    with monkeypatch.context() as broken:
        broken.setattr(services, "_batches", break_down)
        SAMPLES.claim_and_do(sample.pk)

    sample.refresh_from_db()
    assert sample.state == Sample.State.FAILED
    assert sample.error.endswith("The worker's log has more: OSError: the disk is full")
    assert retry_sample(sample, rosa)
    assert not retry_sample(sample, rosa)
    SAMPLES.claim_and_do(sample.pk)
    assert sample.members.count() == 30


# --- asking ---------------------------------------------------------------------------------


def test_asking_for_the_same_again_is_asking_for_the_same_sample(thirty, rosa):
    first = request_sample(thirty, SampleChoices(size=5), rosa)

    assert request_sample(thirty, SampleChoices(size=5), rosa) == first
    assert AuditEntry.objects.filter(action="sample.requested").count() == 1


def test_one_name_is_one_sample(thirty):
    request_sample(thirty, SampleChoices(name="pilot", size=5), None)

    with pytest.raises(
        SampleError, match="has a sample named “pilot” that was drawn with other choices"
    ):
        request_sample(thirty, SampleChoices(name="pilot", size=6), None)


def test_choices_come_back_as_they_were_stored(thirty):
    chosen = SampleChoices("n", ALL_ON._replace(on=FILTER_KEYS[:3]), DEV, None, 4, 2)

    sample = request_sample(thirty, chosen, None)
    sample.refresh_from_db()

    assert choices_of(sample.name, sample.parameters) == chosen


@pytest.mark.parametrize(
    ("choices", "name"),
    [
        (SampleChoices(), "100 by seed 0"),
        (SampleChoices(part=DEV, seed=3), "100 by seed 3, dev"),
        (SampleChoices(part=DEV, split_seed=2), "100 by seed 0, dev@2"),
        (SampleChoices(size=None), "all that pass"),
        (EVERYTHING, "all that pass, unfiltered"),
        (
            SampleChoices(filters=ALL_ON._replace(on=FILTER_KEYS[:3])),
            "100 by seed 0, only has-history odd-turns no-question-after-question",
        ),
        (
            SampleChoices(filters=ALL_ON._replace(on=FILTER_KEYS[1:], exact_match="drop")),
            "100 by seed 0, without has-history, exact matches dropped",
        ),
        (
            SampleChoices(filters=ALL_ON._replace(max_evidence_tokens=50)),
            "100 by seed 0, under 50 tokens",
        ),
    ],
)
def test_a_usual_name_says_what_is_not_as_usual(choices, name):
    assert choices.usual_name == name


# --- by hand --------------------------------------------------------------------------------


def test_what_is_dropped_by_hand_is_no_example_of_the_sample(thirty, rosa):
    sample = drawn(thirty, SampleChoices(filters=Filters(), size=3))
    first, second, third = sample.members.all()

    decide(first, "keep", "", rosa)
    decide(second, "drop", "  The question is about nothing. ", rosa)

    second.refresh_from_db()
    assert examples_of(sample.dataset, sample) == {
        member.example_id: member.example.key for member in (first, third)
    }
    assert second.reason == "The question is about nothing."
    assert second.by == rosa
    assert next_open(sample, after=0) == 3
    assert next_open(sample, after=3) == 3


def test_a_decision_can_be_changed_and_undone(thirty, rosa):
    sample = drawn(thirty, SampleChoices(filters=Filters(), size=1))
    member = sample.members.get()

    decide(member, "drop", "odd", rosa)
    decide(member, "keep", "odd", rosa)  # what is kept has no reason
    member.refresh_from_db()
    assert (member.verdict, member.reason) == ("keep", "")

    decide(member, "", "", rosa)
    member.refresh_from_db()
    assert (member.verdict, member.by, member.at) == ("", None, None)


@pytest.mark.parametrize(("verdict", "reason"), [("drop", ""), ("drop", "  "), ("maybe", "")])
def test_a_drop_needs_a_reason_and_a_verdict_is_one_of_three(thirty, verdict, reason):
    member = drawn(thirty, SampleChoices(filters=Filters(), size=1)).members.get()

    with pytest.raises(SampleError):
        decide(member, verdict, reason, None)

    assert SampledExample.objects.get().verdict == ""


# --- deleting -------------------------------------------------------------------------------


def test_a_sample_goes_and_its_examples_stay(thirty, rosa):
    sample = drawn(thirty, EVERYTHING)

    delete_sample(sample, rosa)

    assert not SampledExample.objects.exists()
    assert Example.objects.count() == 30
    assert AuditEntry.objects.get(action="sample.deleted").details["n_examples"] == 30


def test_a_sample_that_a_grid_is_about_stays(thirty):
    sample = drawn(thirty, EVERYTHING)
    Grid.objects.create(dataset=thirty, name="grid", sample=sample, choices={})

    with pytest.raises(SampleError, match="A grid uses"):
        delete_sample(sample, None)

    assert sample.members.count() == 30


def test_samples_go_with_their_dataset(thirty):
    drawn(thirty, EVERYTHING)

    forget(thirty)

    assert not Sample.objects.exists()
    assert not Dataset.objects.exists()


# --- published data -------------------------------------------------------------------------


def records():
    path = shared_folder() / "data/qrecc_sample/qrecc_test_sample.json"
    if not path.is_file():
        pytest.skip(f"no real data at {path}")
    return path, json.loads(path.read_text("utf-8"))


def test_the_cascade_of_published_qrecc_is_what_its_records_say():
    path, published = records()
    dataset = import_path(path, "qrecc").dataset
    assert dataset

    sample = drawn(dataset, SampleChoices())

    # Counted from the raw records: a context is the dialog before the question, in order.
    left = [len(published)]
    for is_good in (
        lambda record: record["Context"],
        lambda record: len(record["Context"]) % 2 == 0,
        lambda record: True,  # an even context without a gap has no question after a question
        lambda record: len(record["Answer"].split()) > 1,
        lambda record: True,  # no evidence
        lambda record: True,  # every rewrite names what it asks about
        lambda record: "article" not in record["Rewrite"].lower(),
        lambda record: True,  # no evidence
    ):
        published = [record for record in published if is_good(record)]
        left.append(len(published))
    rows = cascade_rows(sample.cascade)
    assert [sample.cascade["n"], *(row.n_left for row in rows)] == left
    # 9 conversations begin in it; 6 contexts are odd; 4 answers behind even ones are empty.
    assert left == [70, 61, 55, 55, 51, 51, 51, 51, 51]
    assert {row.rule.key for row in rows if not row.is_applicable} == {
        "short-evidence",
        "exact-match",
    }
    assert sample.members.count() == left[-1]


def test_long_names_of_different_choices_differ():
    off = ALL_ON._replace(on=("long-answer", "no-article", "has-history", "odd-turns"))
    names = {
        SampleChoices(
            filters=off._replace(max_evidence_tokens=most), part="dev", split_seed=1000
        ).usual_name
        for most in (200, 250)
    }

    assert len(names) == 2
    assert all(len(name) <= LONGEST_NAME for name in names)


@pytest.mark.parametrize("name", ["   ", "n" * 101])
def test_a_name_that_cannot_be_kept_is_refused(thirty, name):
    with pytest.raises(SampleError, match="expected 1 to 100"):
        request_sample(thirty, SampleChoices(name=name), None)
