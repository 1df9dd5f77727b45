"""The common parts of all reports: the signature, and the votes left out of one setup."""

from typing import Any, NamedTuple

import pytest

from annotation.models import GoldAnswer, Study, Vote
from evaluation.reports.base import Choices, study_counts, votes_left_out
from evaluation.reports.estimates import data_hash
from evaluation.studies.reports.agreement import agreement_report
from evaluation.studies.reports.raters import raters_report
from tests.evaluation.studies.hand_made import COOL, WARM, two_arms, votes
from tests.makers import rated, scheme_of

pytestmark = pytest.mark.once


def parts_of(study: Study) -> list[str]:
    return raters_report(study).signature.split(" | ")


def test_the_signature_names_what_the_study_itself_fixes(tmp_path):
    study = rated(tmp_path, votes(a="yyn"))

    parts = parts_of(study)

    assert {"N the votes an item has", "evidence shown"} < set(parts)
    [scheme] = [part for part in parts if part.startswith("scheme ")]
    key, digest = scheme.removeprefix("scheme ").rsplit(" ", 1)
    assert (key, len(digest)) == (study.scheme["key"], 8)
    assert not any("stops" in part for part in parts)


def test_the_signature_says_n_and_the_full_share_of_a_study_that_stops(tmp_path):
    study = rated(tmp_path, votes(a="yyn"))
    study.raters_per_unit, study.evidence_choice = 5, "golden"
    study.stops_when_decided, study.full_share = True, 0.25

    assert {
        "N 5",
        "evidence golden",
        "stops when decided but for 25 % of examples",
    } < set(parts_of(study))


def test_another_wording_is_another_scheme(tmp_path):
    study = rated(tmp_path, votes(a="yyn"))
    before = parts_of(study)

    study.scheme["questions"][0]["wording"] = "Is it so?"

    [changed] = set(parts_of(study)) - set(before)
    assert changed.startswith(f"scheme {study.scheme['key']} ")


def test_only_reports_on_labels_say_what_a_yes_is(tmp_path):
    scheme = scheme_of(
        {"stars": {"ordinal": [1, 5]}, "kind": {"nominal": ["x", "z"]}, "q": "yes_no"}
    )
    study = rated(tmp_path, {"a": {"stars": ["4"], "kind": ["x"], "q": ["yes"]}}, scheme=scheme)
    study.settings = {"cuts": {"stars": 3.5}}

    assert "a yes is stars: median above 3.5, kind: none" in agreement_report(study).signature
    assert "a yes is" not in raters_report(study).signature


def test_the_signature_is_one_line_whatever_a_setup_is_called(tmp_path):
    name = "a\nb"
    study = rated(tmp_path, votes(a="yyn"), setups={"a": name})

    signature = raters_report(study, Choices(setup=name)).signature

    assert "setup a b only" in signature
    assert len(signature.splitlines()) == 1


def test_what_is_left_out_of_a_setup_is_of_that_setup(tmp_path):
    answers = {"a": ("yyn", "yyy"), "b": ("nny", "nnn"), "c": ("nny", "nnn")}
    raters = [{"rater": "w3", "excluded": "yes"}]
    setups = {"a": COOL, "b": WARM, "c": WARM}
    study = two_arms(tmp_path / "s", answers, setups=setups, raters=raters)
    Vote.objects.filter(rater__code="w1", target__response__key="b").update(is_surplus=True)
    gold = Vote.objects.filter(target__response__key="c").first()
    assert gold is not None
    GoldAnswer.objects.create(study=study, target=gold.target, question="q", answer=0)

    def left_out(**chosen: Any) -> list[int]:
        choices = Choices(**chosen)
        found = votes_left_out(study, study_counts(study, choices), choices)
        return [found[name] for name in ("gold_items", "surplus_votes", "excluded_votes")]

    # The excluded w3 voted once on each; T 0.0 made a, T 0.7 the others.
    assert left_out() == [1, 1, 3]
    assert left_out(setup="m · T 0.0") == [0, 0, 1]
    assert left_out(setup="m · T 0.7") == [1, 1, 2]


def test_the_hash_of_data_depends_on_values_alone():
    class Renamed(NamedTuple):
        key: str
        n: int

    rows = [Renamed("a", 1), Renamed("b", 2)]

    assert data_hash(rows) == data_hash([("b", 2), ("a", 1)])
    assert data_hash(rows) != data_hash([("b", 2), ("a", 3)])
