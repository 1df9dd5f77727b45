"""Rankings made elsewhere, on their way in and out: as a TREC run, and as rows of a table."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from evaluation.exchange.interchange import BadRows
from evaluation.exchange.uploads import request_import
from evaluation.votes.export import export_folder
from generation.models import Dataset, RankedPassage, Ranking
from tests.makers import (
    contents,
    example_row,
    forget,
    import_path,
    import_rows,
    is_empty,
    problems_of,
    statements,
)
from tests.shown import shown
from tests.uploading import asked_to_store, carried_on

pytestmark = pytest.mark.both

RUN = "e1 Q0 p-e2 1 9 dense\ne1 Q0 p-e1 2 8 dense\ne2 Q0 p-e2 1 7 dense\n"


@pytest.fixture
def dataset(tmp_path):
    import_rows(tmp_path / "a", examples=[example_row("e1"), example_row("e2")])
    return Dataset.objects.get()


@pytest.fixture
def run(tmp_path):
    def write(text=RUN):
        (tmp_path / "dense.run").write_text(text, encoding="utf-8")
        return tmp_path / "dense.run"

    return write


def stored():
    columns = ("ranking__name", "example__key", "rank", "passage__key")
    return sorted(RankedPassage.objects.values_list(*columns))


def test_a_run_adds_a_ranking_to_its_dataset_once(dataset, run):
    outcome = import_path(run())

    assert outcome.counts == {"rankings": {"new": 3, "unchanged": 0, "bad": 0}}
    assert stored() == [
        ("dense", "e1", 1, "p-e2"),
        ("dense", "e1", 2, "p-e1"),
        ("dense", "e2", 1, "p-e2"),
    ]
    before = contents()
    again = import_path(run(RUN + "e2 Q0 p-e1 2 6 dense\n"), dry_run=True)
    assert again.counts == {"rankings": {"new": 1, "unchanged": 3, "bad": 0}}
    assert import_path(run()).counts["rankings"]["unchanged"] == 3
    assert contents() == before


def test_the_dry_run_shows_rows_as_they_will_be_read(dataset, run):
    outcome = import_path(run(), dry_run=True)

    assert outcome.preview["rankings"][0] == {
        "line": "1",
        "ranking": "dense",
        "example": "e1",
        "passage": "p-e2",
        "rank": "1",
    }
    assert ("Recall of retrieval", "") in outcome.uses
    assert not Ranking.objects.exists()


def test_unknown_examples_and_passages_are_bad_rows_and_keep_their_ranks(dataset, run):
    text = "e1 Q0 web-7 1 9 dense\ne1 Q0 p-e1 2 8 dense\ne9 Q0 p-e1 1 7 dense\n"

    with pytest.raises(BadRows) as failed:
        import_path(run(text))

    assert problems_of(failed.value) == [("dense.run", 1, "passage"), ("dense.run", 3, "example")]
    assert 'found "web-7"; expected the id of a passage of this dataset' in str(
        failed.value.outcome.problems[0]
    )
    assert not Ranking.objects.exists()
    import_path(run(text), skip_bad=True)
    assert stored() == [("dense", "e1", 2, "p-e1")]


def test_a_passage_is_ranked_once_and_a_rank_is_of_one_passage(dataset, tmp_path):
    rows = [
        {"ranking": "dense", "example": "e1", "passage": passage, "rank": rank}
        for passage, rank in (("p-e1", 1), ("p-e2", 1), ("p-e1", 2))
    ]

    with pytest.raises(BadRows) as failed:
        import_rows(tmp_path / "b", rankings=rows)

    taken, twice = failed.value.outcome.problems
    assert (taken.where.line, taken.field) == (3, "rank")
    assert 'found 1, which is the rank of another passage for example "e1"' in str(taken)
    assert (twice.where.line, twice.found.endswith(" again")) == (4, True)


def test_what_is_stored_does_not_change(dataset, run):
    import_path(run())

    with pytest.raises(BadRows) as failed:  # p-e1 now first, and p-e2 second
        import_path(run("e1 Q0 p-e1 1 9 dense\ne1 Q0 p-e2 2 8 dense\n"))
    assert "expected rank 2, as stored" in str(failed.value.outcome.problems[0])
    with pytest.raises(BadRows) as failed:  # e2 has p-e2 at rank 1
        import_path(run("e2 Q0 p-e1 1 9 dense\n"))
    assert problems_of(failed.value) == [("dense.run", 1, "rank")]

    import_path(run("e1 Q0 p-e1 1 9 other\n"))
    assert [ranking.name for ranking in dataset.rankings.all()] == ["dense", "other"]


@pytest.mark.parametrize("rank", ["", "0", "first", "1.5", str(2**31)])
def test_a_rank_in_a_table_is_a_whole_number_from_1(dataset, tmp_path, rank):
    row = {"ranking": "dense", "example": "e1", "passage": "p-e1", "rank": rank}

    with pytest.raises(BadRows) as failed:
        import_rows(tmp_path / "b", rankings=[row])

    assert problems_of(failed.value) == [("rankings.csv", 2, "rank")]


def test_a_run_comes_by_page_which_leads_to_its_retrieval(dataset, run, client_for, adam):
    file = SimpleUploadedFile("dense.run", run().read_bytes())
    upload = carried_on(asked_to_store(request_import(file, "pilot", "", adam)))

    page = shown(client_for(adam).get(reverse("evaluation:import-progress", args=[upload.pk])))

    assert "read as trec-run" in page.text
    assert reverse("evaluation:retrieval", args=[dataset.slug]) in page.addresses
    assert len(stored()) == 3


def test_rankings_come_back_from_an_export(dataset, run, tmp_path):
    import_path(
        run("e1 Q0 p-e2 1 9 =dense\ne1 Q0 web 2 8 =dense\ne1 Q0 p-e1 3 7 =dense\n"), skip_bad=True
    )
    before = stored()
    export_folder(dataset, None, tmp_path / "export")
    forget(dataset)
    assert is_empty()

    outcome = import_path(tmp_path / "export")

    assert outcome.counts["rankings"] == {"new": 2, "unchanged": 0, "bad": 0}
    assert stored() == before == [("=dense", "e1", 1, "p-e2"), ("=dense", "e1", 3, "p-e1")]


def test_a_dataset_without_rankings_exports_none(dataset, tmp_path):
    export_folder(dataset, None, tmp_path / "export")

    assert not (tmp_path / "export/rankings.csv").exists()


def test_a_run_costs_a_fixed_number_of_statements(dataset, tmp_path, run):
    examples = [example_row(f"m{n}") for n in range(30)]
    import_rows(tmp_path / "more", examples=examples)
    few = len(statements(lambda: import_path(run())))
    many = "".join(f"m{n} Q0 p-m{m} 1 {m} many\n" for n in range(30) for m in range(8))

    assert len(statements(lambda: import_path(run(many)))) == few
