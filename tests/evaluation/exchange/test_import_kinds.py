"""Import: arms, citations, scores, knowledge graphs, and whatever else a dataset holds."""

import json
from typing import Any

import pytest

from annotation.models import Arm, Flag, Rater, Target, Vote
from evaluation.exchange.interchange import BadRows
from evaluation.models import AutoScore, MetricRun
from generation.importers.errors import DatasetError
from generation.models import (
    Citation,
    Entity,
    Example,
    ExamplePassage,
    KGQuestion,
    MinimumTriple,
    Passage,
    Response,
    ResponsePassage,
    Triple,
    Turn,
)
from tests.makers import (
    contents,
    example_row,
    import_path,
    import_rows,
    pilot_rows,
    problems_of,
    response_row,
    scheme_of,
    vote_row,
    write_files,
)

pytestmark = pytest.mark.both
YES_NO = scheme_of({"attributable": "yes_no"})


@pytest.fixture
def pilot(tmp_path):
    return write_files(tmp_path / "pilot", **pilot_rows())


def test_items_may_have_different_numbers_of_votes(tmp_path):
    rows = pilot_rows()
    rows["votes"] = [vote_row("r2", f"w{n}") for n in range(7)] + [vote_row("r1", "w0")]

    import_rows(tmp_path / "a", **rows)

    by_response = [t.votes.count() for t in Target.objects.order_by("response__key")]
    assert by_response == [1, 7]


def test_votes_on_citations_are_about_targets_of_their_own(tmp_path):
    votes = [
        vote_row("r1", "anna", "yes", "supports", citation=1),
        vote_row("r1", "anna", "no", "supports", citation=2),
        vote_row("r1", "ben", "no", "supports", citation=2),
        vote_row("r1", "ben", "yes", "supports"),
    ]
    scores = [{"response": "r1", "metric": "nli", "score": 1, "citation": 2}]

    outcome = import_rows(tmp_path / "a", **pilot_rows() | {"votes": votes, "scores": scores})

    assert outcome.scheme_origin.startswith("the built-in scheme ALIGNMENT")
    assert list(Citation.objects.values_list("response__key", "number")) == [("r1", 1), ("r1", 2)]
    n_votes = {
        target.citation and target.citation.number: target.votes.count()
        for target in Target.objects.select_related("citation")
    }
    assert n_votes == {1: 1, 2: 2, None: 1}
    assert AutoScore.objects.filter(target__citation__number=2).count() == 1


def test_both_arms_keep_their_votes_apart(tmp_path):
    votes = [
        vote_row("r1", "anna", "yes", arm="separate", position="1"),
        vote_row("r1", "anna", "no", arm="merged", position="2", seconds="4.5"),
    ]
    flags = [{"response": "r1", "rater": "anna", "arm": "merged"}]

    import_rows(tmp_path / "a", **pilot_rows() | {"votes": votes, "flags": flags})

    assert {arm.kind for arm in Arm.objects.all()} == {"separate", "merged"}
    merged = Vote.objects.get(arm__kind="merged")
    assert (merged.answer, merged.position, merged.seconds) == (0, 2, 4.5)
    assert Flag.objects.get().arm.kind == "merged"


GATED = scheme_of({"sensible": "yes_no", "specific": "yes_no"}, specific={"after": ["sensible"]})


@pytest.mark.parametrize(
    ("question", "answer"),
    [("specific", "yes"), ("sensible", "no"), ("sensible", "yes")],
)
def test_an_implied_vote_is_a_no_behind_a_gate(tmp_path, question, answer):
    votes = [
        vote_row("r1", "anna", "no", "sensible"),
        vote_row("r1", "ben", answer, question, implied="yes"),
    ]
    rows = pilot_rows() | {"votes": votes}

    with pytest.raises(BadRows) as error:
        import_rows(tmp_path / "a", **rows | {"scheme": GATED})

    assert problems_of(error.value) == [("votes.csv", 3, "implied")]


def test_what_a_file_does_not_say_about_a_rater_stays(tmp_path, pilot):
    import_path(pilot)
    import_rows(tmp_path / "a", raters=[{"rater": "anna", "excluded": "yes"}])

    outcome = import_rows(tmp_path / "b", raters=[{"rater": "anna", "gold_score": "0.8"}])

    anna = Rater.objects.get(code="anna")
    assert (anna.is_excluded, anna.gold_score) == (True, 0.8)
    assert outcome.counts["raters"] == {"new": 0, "unchanged": 0, "bad": 0, "changed": 1}


def test_a_reason_stays_until_the_file_says_another_or_that_nobody_is_excluded(tmp_path, pilot):
    import_path(pilot)

    def anna(**says: str) -> tuple[bool, str]:
        import_rows(tmp_path / "more", raters=[{"rater": "anna", **says}])
        stored = Rater.objects.get(code="anna")
        return stored.is_excluded, stored.excluded_reason

    assert anna(excluded="yes", excluded_reason="Clicks.") == (True, "Clicks.")
    assert anna(gold_score="0.8") == (True, "Clicks.")
    assert anna(excluded="yes") == (True, "Clicks.")
    assert anna(excluded="yes", excluded_reason="Sleeps.") == (True, "Sleeps.")
    assert anna(excluded="no") == (False, "")


@pytest.mark.parametrize("excluded", [{}, {"excluded": "no"}])
def test_a_reason_of_who_is_not_excluded_is_refused(tmp_path, pilot, excluded):
    import_path(pilot)

    with pytest.raises(BadRows) as error:
        import_rows(
            tmp_path / "a", raters=[{"rater": "anna", "excluded_reason": "Clicks."} | excluded]
        )

    assert problems_of(error.value) == [("raters.csv", 2, "excluded_reason")]
    assert not Rater.objects.get(code="anna").is_excluded


@pytest.mark.parametrize("change", [{"seconds": "5"}, {"position": "2"}, {"at": "2026-01-01"}])
def test_a_vote_with_other_facts_is_another_vote(tmp_path, pilot, change):
    import_path(pilot)
    [vote, *_] = pilot_rows()["votes"]

    with pytest.raises(BadRows, match="stored with other content"):
        import_rows(tmp_path / "a", votes=[vote | change])


@pytest.mark.parametrize("fact", [{"raters_per_unit": 5}, {"seed": 99}])
def test_facts_of_a_study_that_is_there_cannot_be_changed_by_the_way(tmp_path, pilot, fact):
    import_path(pilot)

    with pytest.raises(DatasetError, match=f"study.json, {next(iter(fact))}"):
        import_rows(tmp_path / "a", votes=pilot_rows()["votes"], study=fact)


def test_scores_belong_to_one_run_per_metric_and_signature(tmp_path, pilot):
    import_path(pilot)
    scores = [
        {"response": "r2", "metric": "rouge", "score": "0.4", "signature": "v1"},
        {"response": "r1", "metric": "rouge", "score": "0.3", "signature": "v2"},
        {"response": "r1", "metric": "bleu", "score": "-1", "signature": ""},
    ]

    import_rows(tmp_path / "more", scores=scores)

    runs = MetricRun.objects.order_by("metric", "signature")
    assert [(run.metric, run.signature, run.scores.count()) for run in runs] == [
        ("bleu", "", 1),
        ("rouge", "v1", 2),
        ("rouge", "v2", 1),
    ]


def test_a_knowledge_graph_with_its_questions_is_stored_as_it_stands(tmp_path):
    entities = [
        {
            "qid": "Q1",
            "label": "Ada",
            "type": "human",
            "aliases": ["Countess", "A. L."],
            "triples": [
                {"relation": "occupation", "value": "writer, poet", "value_qid": "Q9"},
                {"relation": "born", "value": 1815},
            ],
        },
        {"qid": "Q2", "label": "Note", "text": "A document.", "triples": []},
    ]
    questions = [
        {
            "id": "k1",
            "question": "Who was Ada?",
            "entities": ["Q1"],
            "retrieved": ["Q1", "Q404"],
            "minimum": [["Q1", "born", "1815"], ["Q1", "occupation", "writer, poet", 2]],
        },
        {"id": "k2", "question": "And?", "entities": []},
    ]
    responses = [
        response_row("r1", "k1", graph_shown=[["Q1", "born", "1815"]], removed=[]),
        response_row("r2", "k2"),
    ]

    outcome = import_rows(
        tmp_path / "a", entities=entities, kg_questions=questions, responses=responses
    )

    assert outcome.n_examples == 2
    ada = Entity.objects.get(qid="Q1")
    assert set(ada.aliases.values_list("name", flat=True)) == {"Countess", "A. L."}
    assert list(ada.triples.values_list("relation", "value", "value_qid")) == [
        ("occupation", "writer, poet", "Q9"),
        ("born", "1815", ""),
    ]
    assert Entity.objects.get(qid="Q2").text == "A document."
    first, second = KGQuestion.objects.order_by("example__key")
    assert (first.is_minimum_known, first.is_retrieved_known) == (True, True)
    assert (second.is_minimum_known, second.is_retrieved_known) == (False, False)
    assert list(first.entities.order_by("is_retrieved", "position").values_list("qid")) == [
        ("Q1",),
        ("Q1",),
        ("Q404",),
    ]
    assert list(MinimumTriple.objects.values_list("relation", "round")) == [
        ("born", None),
        ("occupation", 2),
    ]
    assert Turn.objects.get(example=first.example).text == "Who was Ada?"
    shown = {r.key: (r.graph_shown, r.removed) for r in Response.objects.all()}
    assert shown == {"r1": ([["Q1", "born", "1815"]], []), "r2": (None, None)}


def test_a_graph_again_changes_nothing_and_a_changed_entity_is_a_problem(tmp_path):
    entity = {"qid": "Q1", "label": "Ada", "triples": [{"relation": "born", "value": "1815"}]}
    questions = [{"id": "k1", "question": "Who?", "entities": ["Q1"], "minimum": []}]
    folder = write_files(tmp_path / "a", entities=[entity], kg_questions=questions)
    import_path(folder)
    before = contents()

    counts = import_path(folder).counts

    assert contents() == before
    assert [count["unchanged"] for count in counts.values()] == [1, 1]
    with pytest.raises(BadRows, match=r"entity .*Q1.* stored with other content"):
        import_rows(tmp_path / "b", entities=[entity | {"label": "Eva"}])


def test_unknown_keys_are_kept_beside_the_meta_data(tmp_path):
    rows: dict[str, Any] = {
        "examples": [example_row(meta={"domain": "law"}, turn_no=3)],
        "responses": [response_row(tokens=12, meta={"note": None})],
    }

    import_rows(tmp_path / "a", **rows)

    assert Example.objects.get().meta == {"domain": "law", "turn_no": 3}
    assert Response.objects.get().meta == {"tokens": 12, "note": None}


def test_a_dialog_that_is_not_linear_keeps_its_parents(tmp_path):
    turns = [
        {"speaker": "user", "text": "One?"},
        {"speaker": "assistant", "text": "One."},
        {"speaker": "user", "text": "Two?", "parent": -1},
        {"speaker": "User", "text": "Three?", "parent": 1},
    ]

    import_rows(tmp_path / "a", examples=[example_row(turns=turns)])

    found = Turn.objects.values_list("index", "parent_index", "speaker")
    assert list(found) == [(0, -1, "user"), (1, 0, "assistant"), (2, -1, "user"), (3, 1, "user")]


def test_the_smallest_example_of_the_handbook_can_be_imported(tmp_path):
    files = {
        "examples.csv": "id,turns,evidence\n"
        "q1,When did the mill close?,The mill closed in 1971 after the flood.\n",
        "responses.csv": "id,example,setup,text\nr1,q1,model-a,It closed in 1971.\n",
        "votes.csv": "response,rater,question,answer\n"
        "r1,anna,attributable,yes\nr1,ben,attributable,no\n",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)

    outcome = import_path(tmp_path)

    assert {kind: count["new"] for kind, count in outcome.counts.items()} == {
        "examples": 1,
        "responses": 1,
        "votes": 2,
    }
    assert Passage.objects.get().text == "The mill closed in 1971 after the flood."
    assert ExamplePassage.objects.get().is_golden


def test_json_lines_of_votes_say_yes_and_no_as_json_does(tmp_path):
    rows = pilot_rows()
    del rows["votes"]
    folder = write_files(tmp_path / "a", **rows, scheme=YES_NO)
    votes = [vote_row("r1", "anna", True), vote_row("r1", "ben", 0), vote_row("r2", "ben", 1.0)]
    (folder / "votes.jsonl").write_text("".join(json.dumps(vote) + "\n" for vote in votes))

    import_path(folder)

    assert list(Vote.objects.order_by("pk").values_list("answer", flat=True)) == [1, 0, 1]
    assert ResponsePassage.objects.count() == 1
    assert Triple.objects.count() == 0
