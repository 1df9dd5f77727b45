"""A sample of dialogs to rate: who may plan it, what is drawn, and what is stored about it."""

import pytest
from django.urls import reverse
from lxml import html

from annotation.models import Study, UnitTarget
from annotation.planning import sampled
from annotation.services.studies import extend_study, open_study
from tests.annotation.planned import make_study

pytestmark = pytest.mark.once


@pytest.fixture
def dialogs(dataset):
    """The dataset's four examples in two dialogs of two."""
    for place, example in enumerate(dataset.examples.order_by("key")):
        example.dialog = f"dialog {place // 2}"
        example.save()
    return dataset


def drawn_dialogs(study):
    keys = sampled(study)
    return sorted(study.dataset.examples.filter(pk__in=keys).values_list("dialog", flat=True))


def test_whole_dialogs_are_drawn(dialogs, rosa):
    study = make_study(dialogs, rosa, n_sampled=1)

    drawn = drawn_dialogs(study)

    assert len(drawn) == 2
    assert len(set(drawn)) == 1


def test_opening_stores_how_many_dialogs_were_drawn_from(dialogs, rosa):
    study = make_study(dialogs, rosa, n_sampled=1)
    before = drawn_dialogs(study)

    open_study(study, rosa)

    study.refresh_from_db()
    assert (study.n_sampled, study.n_drawn_from) == (1, 2)  # each dialog had the probability 1/2
    rated = UnitTarget.objects.filter(unit__arm__study=study)
    assert {place.target.response.example.dialog for place in rated} == set(before)


def test_a_larger_sample_is_drawn_from_what_is_there_now(dialogs, rosa):
    study = make_study(dialogs, rosa, n_sampled=1)
    open_study(study, rosa)

    extend_study(study, rosa, n_sampled=2)

    study.refresh_from_db()
    assert (study.n_sampled, study.n_drawn_from) == (2, 2)


def test_a_study_that_opened_with_a_sample_of_examples_keeps_it(dialogs, rosa):
    study = make_study(dialogs, rosa, n_sampled=1)
    open_study(study, rosa)
    # A study that opened before dialogs were drawn has no such number.
    Study.objects.update(n_drawn_from=None)
    study.refresh_from_db()

    assert len(sampled(study)) == 1


def test_one_click_plans_a_study_of_a_sample(dialogs, researcher):
    page = researcher.get(reverse("generation:dataset", args=[dialogs.slug]))
    forms = html.document_fromstring(page.content).forms
    form = next(each for each in forms if "/studies/new/" in (each.action or ""))
    posted: dict[str, list[str]] = {}
    for name, value in form.form_values():
        posted.setdefault(name, []).append(value)

    answer = researcher.post(form.action, posted)

    study = Study.objects.get()
    assert answer["Location"] == reverse("annotation:study-setup", args=[study.slug])
    assert (study.name, study.n_sampled, study.state) == ("mills, sample", 1, "planned")
    assert study.setups.count() == dialogs.setups.count() == 3


def test_the_name_of_a_second_sample_is_free(dialogs, rosa, researcher):
    make_study(dialogs, rosa, name="mills, sample")

    page = researcher.get(reverse("generation:dataset", args=[dialogs.slug]))

    assert 'value="mills, sample 2"' in page.content.decode()


def test_a_dataset_of_one_dialog_has_no_sample(dialogs, researcher):
    dialogs.examples.update(dialog="one")

    page = researcher.get(reverse("generation:dataset", args=[dialogs.slug]))

    assert "Draw a sample" not in page.content.decode()
