"""Texts of a dataset on pages: each stands in an element with its language and its direction."""

from pathlib import Path

import pytest
from django.urls import reverse
from lxml import html

from evaluation.models import MetricRun
from tests.annotation.makers import claimed, opened, planned, rate_next, raters_of
from tests.evaluation.makers_of_scores import make_run, make_score, window
from tests.makers import example_row, import_rows, response_row, scheme_of, vote_row

pytestmark = pytest.mark.once

TEMPLATES = Path(__file__).parent.parent / "templates"
# Only the dataset says that its texts are in Dari; their script would tell Persian.
DARI = "fa-AF"
MILL = "آسیاب"
CLOSED = f"{MILL} بسته شد."
SOLD = f"چرخ {MILL} فروخته شد."


@pytest.fixture
def dataset(tmp_path, db):
    """Return a dataset in Dari with a study, and with a run that its raters differ from."""
    outcome = import_rows(
        tmp_path / "dari",
        examples=[
            example_row(
                "e",
                turns=[{"speaker": "user", "text": f"{MILL} کی بسته شد؟"}],
                evidence=[{"id": "p", "title": SOLD, "text": f"{CLOSED} {SOLD}", "golden": True}],
                golden_answer=CLOSED,
            )
        ],
        responses=[response_row("r", "e", text=f"{CLOSED}\n\n{SOLD}", evidence_shown=["p"])],
        votes=[vote_row("r", rater, "no") for rater in ("w1", "w2", "w3")],
        scheme=scheme_of({"attributable": "yes_no"}),
        dataset={"language": DARI},
    )
    assert outcome.dataset is not None
    run = make_run(outcome.dataset)
    make_score(run, "r", 0.9, windows=[window("p", CLOSED)])
    return outcome.dataset


def texts_on(answer):
    """Return language and direction of each element of a page that names the mill."""
    assert answer.status_code == 200
    named = html.fromstring(answer.text).xpath(f"//main//*[contains(text(), '{MILL}')]")
    around = [each.xpath("ancestor-or-self::*[@dir]")[-1:] for each in named]
    return [(each.get("lang"), each.get("dir")) for [each] in around]


def test_each_page_says_the_language_of_its_texts(researcher, client_for, dataset):
    old, run = dataset.studies.get(), MetricRun.objects.get()
    study = opened(dataset, raters=1)
    [rater] = raters_of(study)
    unit = claimed(rater).unit_id
    slug, example, response = dataset.slug, dataset.examples.get().pk, dataset.responses.get().pk
    at_work = client_for(rater.user)
    pages = [  # who asks, for what, and the number of elements with a text of the dataset
        (researcher, "generation:dataset", [slug], {}, 1),
        (researcher, "generation:prompts", [slug, example], {}, 2),
        (researcher, "evaluation:example", [slug, example], {}, 6),
        (researcher, "evaluation:response", [slug, response], {"run": run.pk}, 7),
        (researcher, "evaluation:run", [run.pk], {}, 1),
        (researcher, "evaluation:disagreements", [old.slug], {"run": run.pk}, 6),
        (researcher, "annotation:preview", [planned(dataset, name="Next").slug], {}, 5),
        (at_work, "annotation:rate-unit", [study.slug, unit], {}, 5),
    ]

    found = {
        name: texts_on(client.get(reverse(name, args=args, query=query)))
        for client, name, args, query, _ in pages
    }
    rate_next(rater)
    found["mine"] = texts_on(at_work.get(reverse("annotation:my-answers", args=[study.slug])))

    assert found == {name: [(DARI, "auto")] * n for _, name, _, _, n in pages} | {
        "mine": [(DARI, "auto")] * 3
    }


def test_templates_write_language_and_direction_in_one_way():
    by_hand = [path.name for path in TEMPLATES.rglob("*.html") if 'dir="auto"' in path.read_text()]

    assert by_hand == []
