"""The index of a dataset's passages: its passages, its place, and when it is built again."""

import shutil
from concurrent.futures import ThreadPoolExecutor

import pytest

from evaluation.exchange.services import delete_dataset
from generation.models import Dataset, Passage
from generation.retrieval import dataset_index
from generation.retrieval.bm25 import Bm25, PassageIndex
from generation.retrieval.dataset_index import has_index, index_of

pytestmark = pytest.mark.both

TEXTS = {"b": "The mill of Rome closed.", "a": "Rome is a city.", "B": "A flood came."}


@pytest.fixture(autouse=True)
def media(settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path
    return tmp_path


@pytest.fixture
def dataset():
    return dataset_of(TEXTS)


def dataset_of(texts, name="pilot"):
    dataset = Dataset.objects.create(name=name, slug=name)
    add(dataset, texts)
    return dataset


def add(dataset, texts):
    Passage.objects.bulk_create(
        Passage(dataset=dataset, key=key, text=text) for key, text in texts.items()
    )


def keys(dataset, ids):
    key_of = dict(Passage.objects.filter(dataset=dataset).values_list("pk", "key"))
    return [key_of[pk] for pk in ids]


def ranked(dataset, query, k=3, bm25=Bm25(), without=()):  # noqa: B008 - immutable
    hits = index_of(dataset.pk, bm25).ranked(query, k, without)
    return keys(dataset, [hit.passage for hit in hits])


def folders(media, dataset):
    return sorted(path.name for path in (media / "retrieval" / str(dataset.pk)).iterdir())


def test_the_best_passages_come_first_and_ties_by_key_in_order_of_bytes(dataset):
    assert ranked(dataset, "when did the mill close") == ["b", "B", "a"]
    assert ranked(dataset, "nothing here") == ["B", "a", "b"]


def test_scores_are_those_of_the_texts_in_order_of_keys(dataset):
    hits = index_of(dataset.pk).ranked("Rome", 3)

    plain = PassageIndex([TEXTS[key] for key in ("B", "a", "b")])
    assert [hit.score for hit in hits] == [score for _, score in plain.ranked("Rome", 3)]


def test_passages_of_other_datasets_are_not_found(dataset):
    other = dataset_of({"x": "The mill, the mill."}, "other")

    assert ranked(other, "mill") == ["x"]
    assert "x" not in keys(dataset, [h.passage for h in index_of(dataset.pk).ranked("mill", 9)])


def test_what_is_left_out_is_not_found(dataset):
    out = Passage.objects.get(dataset=dataset, key="b")
    stranger = dataset_of({"x": "x"}, "other").passages.get()

    assert ranked(dataset, "mill", 2, without=[out.pk, stranger.pk, 10**9]) == ["B", "a"]


def test_random_passages_are_the_same_for_the_same_example(dataset):
    add(dataset, {f"more {n}": f"text {n}" for n in range(40)})
    golden = Passage.objects.get(dataset=dataset, key="b").pk
    index = index_of(dataset.pk)

    drawn = index.random("e1", 3, 5, without=[golden])

    assert drawn == index_of(dataset.pk).random("e1", 3, 5, without=[golden])
    assert drawn[:2] == index.random("e1", 3, 2, without=[golden])
    assert drawn != index.random("e2", 3, 5, without=[golden])
    assert len(set(drawn)) == 5
    assert golden not in index.random("e1", 3, 99, without=[golden])


def test_a_passage_that_is_added_is_found_and_the_old_index_goes(dataset, media):
    before, old = folders_after(media, dataset), index_of(dataset.pk)

    add(dataset, {"c": "A dam held it."})

    assert ranked(dataset, "the dam", 1) == ["c"]
    assert len(folders(media, dataset)) == 1
    assert folders(media, dataset) != before
    assert old.signature != index_of(dataset.pk).signature
    assert len(old.ranked("mill", 9)) == 3  # a process that has the old one open goes on with it


def folders_after(media, dataset):
    index_of(dataset.pk)
    return folders(media, dataset)


def test_a_process_that_starts_later_maps_what_is_there(dataset, monkeypatch):
    expected = ranked(dataset, "the mill")
    dataset_index._stored.cache_clear()
    monkeypatch.setattr(dataset_index, "_build", lambda *_: pytest.fail("built again"))

    assert ranked(dataset, "the mill") == expected
    assert ranked(dataset, "the mill", bm25=Bm25("lucene", 0.9, 0.4)) == ["b", "B", "a"]


def test_what_a_killed_builder_left_is_in_nobodys_way(dataset, media):
    (media / "retrieval" / str(dataset.pk) / "building-1").mkdir(parents=True)

    assert not has_index(dataset.pk)
    assert ranked(dataset, "mill", 1) == ["b"]
    assert has_index(dataset.pk)


def test_an_index_that_somebody_removed_is_built_again(dataset, media):
    ranked(dataset, "mill")
    shutil.rmtree(media / "retrieval")
    dataset_index._stored.cache_clear()

    assert ranked(dataset, "mill", 1) == ["b"]


def test_a_dataset_without_passages_has_nothing_to_find():
    index = index_of(dataset_of({}).pk)

    assert index.ranked("mill", 3) == []
    assert index.random("e1", 0, 3) == []


def test_a_dataset_that_there_is_not_is_an_error():
    with pytest.raises(Dataset.DoesNotExist):
        index_of(10**9)


def test_choices_and_passages_are_in_the_signature(dataset):
    made = {index_of(dataset.pk, bm25).signature for bm25 in (Bm25(), Bm25("lucene"), Bm25(b=1))}

    assert len(made) == 3
    assert index_of(dataset.pk).signature == index_of(dataset.pk).signature
    assert index_of(dataset_of({"a": "b"}, "x").pk).signature not in made


def test_the_same_passages_have_the_same_signature_whatever_their_ids():
    one, other = (dataset_of({"a": "mill", "b": "fire"}, name) for name in ("one", "other"))

    assert index_of(one.pk).signature == index_of(other.pk).signature
    assert keys(other, index_of(other.pk).random("e1", 0, 2)) == keys(
        one, index_of(one.pk).random("e1", 0, 2)
    )


def test_an_index_of_fewer_passages_than_now_is_none(dataset):
    index_of(dataset.pk)
    assert has_index(dataset.pk)

    add(dataset, {"c": "A dam held it."})

    assert not has_index(dataset.pk)
    index_of(dataset.pk)
    assert has_index(dataset.pk)


def test_a_dataset_that_is_deleted_leaves_no_index(
    dataset, media, adam, django_capture_on_commit_callbacks
):
    ranked(dataset, "mill")
    folder = media / "retrieval" / str(dataset.pk)
    assert folder.exists()

    with django_capture_on_commit_callbacks(execute=True):
        delete_dataset(dataset, adam)

    assert not folder.exists()


@pytest.mark.both(transaction=True)
def test_builders_at_the_same_time_end_with_one_index(media):
    dataset = dataset_of({f"{n:03}": f"mill {n} flood {n % 7}" for n in range(300)})

    def build(_):
        from django.db import connection

        try:
            folder = media / "retrieval" / str(dataset.pk)
            return dataset_index._build(folder, dataset.pk)
        finally:
            connection.close()

    with ThreadPoolExecutor(6) as threads:
        collections = {stored.collection for stored in threads.map(build, range(6))}

    assert len(collections) == len(folders(media, dataset)) == 1
    assert ranked(dataset, "mill 17", 1) == ["017"]
