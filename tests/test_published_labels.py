"""Published labels are counted in the raw files, and again in the files written from them."""

import csv
import json
from collections import Counter

import pytest

from tests import published_labels
from tests.published import fed_lessons, shared_folder, write_fed_sensible

pytestmark = pytest.mark.skipif(
    not (shared_folder() / "data").is_dir(), reason="no folder of real data"
)


def answers_in(folder):
    with (folder / "votes.csv").open(encoding="utf-8", newline="") as file:
        return Counter(row["answer"] for row in csv.DictReader(file))


def rows_of(folder, name):
    return [json.loads(line) for line in (folder / f"{name}.jsonl").read_text("utf-8").splitlines()]


# Counted in the raw files by hand: Q² has 358 + 270 zeros (consistent) and 186 + 274 ones; the two
# files of FaithDial 57 `Entailment` and 23 `entailment` alone, of 400; WiCE 115 `supported` of 349;
# ExpertQA, among claims whose pages have a text, 534 `Complete`, 160 `Incomplete` and 47 `Partial`.
@pytest.mark.parametrize(
    ("name", "n_yes", "n_no"),
    [("q2", 628, 460), ("faithdial", 80, 320), ("wice", 115, 234), ("expertqa", 534, 207)],
)
def test_every_label_is_one_vote_and_no_label_changes_sides(tmp_path, name, n_yes, n_no):
    getattr(published_labels, f"write_{name}")(shared_folder(), tmp_path)

    assert answers_in(tmp_path) == {"yes": n_yes, "no": n_no}
    responses = rows_of(tmp_path, "responses")
    assert len({row["id"] for row in responses}) == len(responses) == n_yes + n_no
    assert all(row["evidence_shown"] for row in responses)


def test_claims_of_expertqa_have_lost_their_citations(tmp_path):
    published_labels.write_expertqa(shared_folder(), tmp_path)

    second = next(row for row in rows_of(tmp_path, "responses") if row["id"] == "expertqa-0-1")

    assert second["text"].endswith(
        "the experience can cause feelings of vulnerability and lack of protection."
    )


def test_fed_is_learnt_from_in_one_half_and_reported_on_in_the_other(tmp_path):
    write_fed_sensible(shared_folder(), tmp_path)

    examples, responses = rows_of(tmp_path, "examples"), rows_of(tmp_path, "responses")
    lessons = fed_lessons(shared_folder())

    # 225 rated replies of 75 dialogs, three each: 37 dialogs are reported on, 38 learnt from.
    assert (len(responses), len(lessons)) == (111, 114)
    learnt = {f"fed-dialog-{dialog}" for dialog, *_ in lessons}
    assert not learnt & {row["dialog"] for row in examples}
    assert Counter(row["setup"] for row in responses) == {"Human": 48, "Meena": 39, "Mitsuku": 24}
    # Ratings of 2 among five: of the first reply of the file [2, 1, 2, …].
    assert {score for *_, score in lessons} <= {0.0, 0.2, 0.4, 0.6, 0.8, 1.0}
