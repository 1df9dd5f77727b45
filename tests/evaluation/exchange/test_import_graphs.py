"""Knowledge graphs on their way in, out and away: BioKaLMA, N-Triples, tables of triples."""

import json
from collections import Counter
from functools import partial
from typing import Any

import pytest
from django.db import connection

from annotation.schemes import Scheme
from annotation.study_file import StudyFacts
from evaluation.exchange import interchange
from evaluation.exchange.import_plan import ImportPlan, plan_import
from evaluation.exchange.interchange import BadRows, import_dataset
from evaluation.votes.export import export_folder
from generation.importers import open_material
from generation.models import (
    Alias,
    Dataset,
    Entity,
    KGQuestion,
    MinimumTriple,
    QuestionEntity,
    Triple,
)
from generation.services import many_rows
from tests.evaluation.commands import failure
from tests.generation.importers.test_biokalma import ADA, HESIOD, ITEMS
from tests.makers import (
    forget,
    import_path,
    import_rows,
    is_empty,
    problems_of,
    statements,
    write_files,
)
from tests.published import shared_folder
from tests.wikidata_shape import by_hand, ntriples

pytestmark = pytest.mark.both
PUBLISHED = shared_folder() / "data" / "biokalma"
GRAPH = ("entities.jsonl", "kg_questions.jsonl")


def written(path, content):
    path.write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")
    return path


def test_the_dry_run_shows_entities_and_questions_as_they_will_be_read(tmp_path):
    entity = {
        "qid": "Q1",
        "label": "Ada",
        "type": "human",
        "triples": [{"relation": "spouse", "value": "Ben"}],
    }
    question = {"id": "k", "question": "Who?", "entities": ["Q1"], "minimum": []}
    write_files(tmp_path, entities=[entity], kg_questions=[question])

    preview = import_path(tmp_path, dry_run=True).preview

    assert preview["entities"] == [
        {"line": "1", "qid": "Q1", "label": "Ada", "type": "human", "triples": "1"}
        | {"first triple": "spouse: Ben"}
    ]
    assert preview["kg_questions"] == [
        {"line": "1", "id": "k", "question": "Who?", "gold entities": "1", "minimum set": "0"}
    ]


def exported(name, folder):
    """Return what the files of an export say of a graph."""
    export_folder(Dataset.objects.get(name=name), None, folder)
    return [(folder / file).read_text("utf-8").splitlines() for file in GRAPH]


def test_a_biokalma_graph_is_stored_as_it_was_read(tmp_path):
    items = [*ITEMS, ["Who?", [ADA | {"name": "Ada Byron"}]]]

    outcome = import_path(written(tmp_path / "items.json", items))

    assert outcome.counts == {
        "entities": {"new": 2, "unchanged": 0, "bad": 0},
        "kg_questions": {"new": 4, "unchanged": 0, "bad": 0},
    }
    assert outcome.notes["'question: ' taken off before a question"] == 1
    assert outcome.left_out == {"empty values in the sub-graphs (no triple)": 4}
    ada = Entity.objects.get(qid="Q7259")
    assert (ada.label, ada.type) == ("Ada Lovelace", "human")
    assert [alias.name for alias in ada.aliases.all()] == ["Ada Byron"]
    assert [(t.position, t.relation, t.value) for t in ada.triples.all()] == [
        (0, "instance of", "human"),
        (1, "place of birth", "London"),
        (2, "notable works", "Notes: on the engine, with [G]"),
        (3, "date_of_birth", "1815-12-10"),
    ]
    question = KGQuestion.objects.get(example__key="question-2")
    assert (question.is_minimum_known, question.is_retrieved_known) == (False, True)
    assert [(e.qid, e.is_retrieved) for e in question.entities.all()] == [
        ("Q44233", True),
        ("Q7259", True),
    ]


def test_an_exported_graph_imports_again_and_is_the_same(tmp_path):
    items = [*ITEMS, ["Who?", [ADA | {"name": "Ada Byron"}]]]
    import_path(written(tmp_path / "items.json", items), "first")

    first = exported("first", tmp_path / "first")
    import_path(tmp_path / "first", "second")

    assert exported("second", tmp_path / "second") == first
    assert [len(rows) for rows in first] == [2, 4]


def test_the_same_file_again_changes_nothing(tmp_path):
    path = written(tmp_path / "items.json", ITEMS)
    import_path(path)

    outcome = import_path(path)

    assert outcome.counts == {
        "entities": {"new": 0, "unchanged": 2, "bad": 0},
        "kg_questions": {"new": 0, "unchanged": 3, "bad": 0},
    }


def test_a_bad_entry_stops_the_import_unless_bad_rows_are_skipped(tmp_path):
    items = [*ITEMS, ["Who?", [HESIOD | {"date_of_birth": "-0700-01-01"}]]]
    path = written(tmp_path / "items.json", items)

    with pytest.raises(BadRows) as error:
        import_path(path)

    assert problems_of(error.value) == [("items.json", 4, "graphs[1].date_of_birth")]
    assert is_empty()

    assert import_path(path, skip_bad=True).counts["kg_questions"]["bad"] == 1
    assert (
        Triple.objects.get(relation="date_of_birth", subject__qid="Q44233").value == "-0764-01-01"
    )
    assert KGQuestion.objects.count() == 3


def test_a_table_without_the_columns_of_triples_is_one_clear_message(tmp_path, capsys):
    path = written(tmp_path / "graph.csv", "qid,label\nQ1,Ada\n")

    failure("import_dataset", path, "--format", "triples")

    assert "graph.csv, line 1, relation: found no such column" in (said := capsys.readouterr().err)
    assert "expected columns qid, relation, value" in said
    assert is_empty()


def test_one_graph_from_n_triples_and_from_a_table_is_the_same(tmp_path):
    import_path(written(tmp_path / "graph.nt", "".join(ntriples(by_hand()))), "n-triples")
    rows = ["qid\trelation\tvalue\tvalue_qid\tlabel\taliases"]
    for entity in Entity.objects.order_by("pk"):
        names = "|".join(alias.name for alias in entity.aliases.order_by("pk"))
        quoted = '"' + names.replace('"', '""') + '"'
        rows += [
            "\t".join((entity.qid, t.relation, t.value, t.value_qid, entity.label, quoted))
            for t in entity.triples.all()
        ]
    import_path(written(tmp_path / "graph.tsv", "\n".join(rows)), "table")

    def content(name):
        entities = Entity.objects.filter(dataset__name=name).order_by("pk")
        return list(entities.values_list("qid", "label", "type", "digest"))

    assert content("table") == content("n-triples")
    assert len(content("table")) == sum(bool(node.statements) for node in by_hand())
    assert Alias.objects.filter(name='Dwayne "The Rock" Johnson').count() == 2
    assert Triple.objects.filter(value="-0384-01-01", subject__qid="Q868").count() == 2


# --- one transaction ------------------------------------------------------------------------


def test_a_graph_is_put_in_order_before_the_transaction(tmp_path, monkeypatch):
    """Meanwhile others write: SQLite has one writer at a time."""
    monkeypatch.setattr(interchange, "BATCH", 1)
    monkeypatch.setattr("generation.importers.ntriples.LINES_AT_ONCE", 100)
    lines = list(ntriples(by_hand()))
    seen = []

    def on_progress(n_rows, share):
        seen.append((bool(connection.savepoint_ids), share))

    outcome = import_path(written(tmp_path / "graph.nt", "".join(lines)), on_progress=on_progress)

    before = [share for is_inside, share in seen if not is_inside]
    assert [is_inside for is_inside, _ in seen[len(before) :]] == [True] * (len(seen) - len(before))
    assert len(before) >= len(lines) // 100
    assert before[-1] == 1.0
    assert len(seen) - len(before) >= outcome.counts["entities"]["new"] == Entity.objects.count()


def test_what_was_checked_is_stored_without_reading_the_file_again(tmp_path):
    path = written(tmp_path / "graph.nt", "".join(ntriples(by_hand())))

    with open_material(path) as material:
        plan = plan_import(material, "graph")
        checked = import_dataset(material, plan, dry_run=True)
        n_bytes = material.bytes_read
        stored = import_dataset(material, plan)

    assert n_bytes == material.bytes_read == path.stat().st_size
    assert (stored.counts, stored.left_out) == (checked.counts, checked.left_out)
    assert stored.counts["entities"]["new"] == Entity.objects.count() > 0


def test_entities_of_a_new_graph_are_not_looked_up(tmp_path):
    """PostgreSQL would read all that is stored by then, for each batch."""
    path = written(tmp_path / "graph.nt", "".join(ntriples(by_hand())))

    def asked():
        table = Entity._meta.db_table
        return [sql for sql in statements(lambda: import_path(path)) if f'FROM "{table}"' in sql]

    assert asked() == []
    assert len(asked()) == 2  # what is there, to check it and to leave it alone


@pytest.mark.parametrize("kind", ["entities", "meta", "golden answers", "details", "reasons"])
def test_a_batch_ends_where_its_rows_are_large_enough_together(tmp_path, monkeypatch, kind):
    long = "m" * 10_000
    monkeypatch.setattr(interchange, "MOST_OF_A_BATCH", 25_000)
    rows: dict[str, dict[str, Any]] = {
        "entities": {"qid": "{}", "label": "L", "triples": [{"relation": "r", "value": long}]},
        "meta": {"id": "{}", "turns": None, "meta": {"notes": [long]}},
        "golden answers": {"id": "{}", "turns": None, "golden_answer": long},
        "details": {"response": "{}", "metric": "m", "score": 1, "details": json.dumps({long: 1})},
        "reasons": {"response": "{}", "rater": "anna", "reason": long},
    }
    file = {"entities": "entities", "details": "scores", "reasons": "flags"}.get(kind, "examples")
    first = next(iter(rows[kind]))
    path = write_files(
        tmp_path / "file", **{file: [rows[kind] | {first: f"k{n}"} for n in range(5)]}
    )
    n_rows = []

    with open_material(path) as material:
        plan = ImportPlan("a", None, {}, None, None, StudyFacts(), {}, Scheme("", "", (), ()), "")
        import_dataset(material, plan, dry_run=True, on_progress=lambda n, share: n_rows.append(n))

    assert n_rows == [3, 5]  # 30,000 bytes and a little, then the rest


@pytest.mark.skipif(not PUBLISHED.is_dir(), reason="BioKaLMA is not there")
def test_the_published_questions_are_stored_in_full():
    outcome = import_path(PUBLISHED / "simple_question_graph.json")

    assert outcome.counts["entities"]["new"] == Entity.objects.count() == 574
    assert outcome.counts["kg_questions"]["new"] == KGQuestion.objects.count() == 543
    # 617 sub-graphs have 10,824 properties; of 574 entities 10,049 are left, 303 of them empty.
    assert Triple.objects.count() == 10_049 - 303
    retrieved = QuestionEntity.objects.filter(is_retrieved=True).values_list("question", flat=True)
    assert Counter(Counter(retrieved).values()) == {1: 375, 2: 99, 3: 12, 4: 2}
    assert QuestionEntity.objects.count() == 617
    assert not MinimumTriple.objects.exists()


def make_graph(folder, name, n):
    """Make a dataset of n entities with n triples each, and n questions about them."""
    triples = [{"relation": "is", "value": f"v{k}"} for k in range(n)]
    entity = {"label": "x", "aliases": ["y", "z"], "triples": triples}
    question = {"question": "Who?", "entities": ["Q1"], "minimum": [["Q1", "is", "v"]]}
    import_rows(
        folder / name,
        name,
        entities=[{"qid": f"Q{k}"} | entity for k in range(n)],
        kg_questions=[{"id": f"q{k}"} | question for k in range(n)],
    )
    return Dataset.objects.get(name=name)


def test_a_graph_goes_out_and_away_in_as_many_statements_whatever_its_size(tmp_path):
    graphs = [make_graph(tmp_path, "few", 1), make_graph(tmp_path, "many", 40)]

    out = [
        statements(partial(export_folder, dataset, None, tmp_path / f"out of {dataset.name}"))
        for dataset in graphs
    ]
    cost = [statements(partial(forget, dataset)) for dataset in graphs]

    assert len(out[0]) == len(out[1])
    assert len(cost[0]) == len(cost[1])
    assert is_empty()
    tables = ("generation_triple", "generation_alias", "generation_minimumtriple")
    loads = [sql for sql in cost[1] if sql.startswith("SELECT")]
    assert not [sql for sql in loads if any(f'FROM "{table}"' in sql for table in tables)]


def test_a_graph_of_many_lots_is_deleted_whole(tmp_path, monkeypatch):
    monkeypatch.setattr(many_rows, "AT_ONCE", 3)

    forget(make_graph(tmp_path, "many", 7))

    assert is_empty()
