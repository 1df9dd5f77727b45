"""The page of the workers: what it lists, whom it is for, and a real worker on it."""

from datetime import timedelta
from pathlib import Path

import pytest
from django.core.cache import cache
from django.core.cache.backends.locmem import LocMemCache
from django.utils import timezone

from evaluation.runs.services.chunks import RUN_CHUNKS
from tests.evaluation.metric_runs import mill, requested
from tests.evaluation.workers import STARTS_WITHIN_SECONDS, is_over, site_on, waited
from tests.shown import Shown, shown
from work.pieces import piece_kinds
from work.worker_records import WorkerRecord, write_record

ADDRESS = "/work/workers/"


class LostCache(LocMemCache):
    """A cache that cannot be used: it forgets at once what is written to it."""

    def set(self, *args, **kwargs):
        pass


@pytest.fixture(autouse=True)
def own_cache(settings, tmp_path) -> Path:
    """Return the folder of an empty cache, which other processes can share."""
    folder: Path = tmp_path / "cache"
    default = {"BACKEND": "config.cache.FileCache", "LOCATION": str(folder)}
    settings.CACHES = settings.CACHES | {"default": default}
    return folder


@pytest.fixture
def admin(client_for, adam):
    return client_for(adam)


def record(worker: str, **fields) -> WorkerRecord:
    now = timezone.now()
    return WorkerRecord("mill", worker, 17, ("celery", "chunks"), now, now)._replace(**fields)


@pytest.mark.once
def test_the_page_lists_what_each_worker_is_and_does(admin):
    write_record(
        record("busy@mill", tasks=("scores a run", "plans a grid", "scores a run"), n_done=1234)
    )
    loaded = {"model": "minilm", "device": "NVIDIA H100"}
    write_record(record("idle@mill", heard_at=timezone.now() - timedelta(seconds=45), **loaded))

    page = shown(admin.get(ADDRESS))

    table = page.table("Workers, by host and name")
    busy, idle = table.row("busy mill, process 17"), table.row("idle mill, process 17")
    assert (busy["Queues"], busy["Loaded model"]) == ("celery, chunks", "—")
    assert (busy["Does now"], busy["Pieces done"]) == ("scores a run × 2, plans a grid", "1,234")
    assert (idle["Does now"], idle["Pieces done"]) == ("waits", "0")
    assert idle["Loaded model"] == "minilm NVIDIA H100"
    assert "2 processes on 1 host, 1 at work, 1 silent" in page.text


@pytest.mark.once
def test_without_workers_the_page_says_how_to_start_them(admin):
    [said] = shown(admin.get(ADDRESS)).messages

    assert "No worker was seen" in said
    assert "make worker" in said


@pytest.mark.once
def test_a_cache_that_cannot_be_used_is_told_from_no_workers(admin, settings):
    lost = {"BACKEND": f"{__name__}.LostCache"}
    settings.CACHES = settings.CACHES | {"default": lost}

    [said] = shown(admin.get(ADDRESS)).messages

    assert "cache cannot be used" in said
    assert "No worker was seen" not in said


@pytest.mark.once
def test_the_page_counts_what_waits_and_what_a_worker_has(admin, tmp_path):
    run = requested(mill(tmp_path / "material", 12))  # three chunks
    assert RUN_CHUNKS.claim_next(run)

    queue = shown(admin.get(ADDRESS)).table(
        "Pieces of work that wait or that a worker has, by kind"
    )

    chunks = queue.row("Run chunks")
    assert (chunks["Waiting"], chunks["At a worker"]) == ("2", "1")
    assert (queue.row("Jobs")["Waiting"], queue.row("Jobs")["At a worker"]) == ("0", "0")


@pytest.mark.once
def test_htmx_gets_the_list_alone(admin):
    part = admin.get(ADDRESS, headers={"HX-Request": "true"}).text

    assert part.lstrip().startswith('<div class="stack" id="workers"')
    assert "every 5s" in part


@pytest.mark.once
def test_the_page_takes_the_same_statements_for_one_worker_and_for_thirty(
    admin, django_assert_num_queries
):
    write_record(record("worker-0@mill"))
    admin.get(ADDRESS)
    # The person and their groups, the waiting pieces of each kind, and imports with a worker.
    n_statements = 2 + len(piece_kinds()) + 1
    with django_assert_num_queries(n_statements):
        admin.get(ADDRESS)

    for number in range(30):
        write_record(record(f"worker-{number}@mill"))

    with django_assert_num_queries(n_statements):
        admin.get(ADDRESS)


@pytest.mark.once
def test_the_page_is_for_admins(client, client_for, rosa, rachel, admin):
    assert client.get(ADDRESS).status_code == 302
    assert client_for(rosa).get(ADDRESS).status_code == 403
    assert client_for(rachel).get(ADDRESS).status_code == 403
    assert admin.get(ADDRESS).status_code == 200
    assert admin.post(ADDRESS).status_code == 405


@pytest.mark.once
def test_the_menu_leads_admins_to_the_workers(admin, client_for, rosa):
    menu = shown(admin.get("/")).links
    assert (menu["Workers"], menu["Models"]) == (ADDRESS, "/metrics/models/")
    assert "Workers" not in shown(client_for(rosa).get("/")).links


@pytest.mark.once(transaction=True)
def test_a_real_worker_is_listed_with_its_queues_and_what_it_has_done(admin, own_cache, tmp_path):
    run = requested(mill(tmp_path, 3))

    def page() -> Shown:
        return shown(admin.get(ADDRESS))

    def done() -> int:
        rows = page().table("Workers, by host and name")
        return sum(map(int, rows.column("Pieces done")))

    with site_on("filesystem", tmp_path, lease_seconds=60) as site:
        site.environment["CACHE_URL"] = f"filecache://{own_cache}"
        with site.worker("mill-worker", concurrency=1) as worker:
            seen = waited(lambda: "mill-worker" in page().text, STARTS_WITHIN_SECONDS, every=0.2)
            assert seen, worker.log[-3000:]
            [row] = page().table("Workers, by host and name").rows
            site.send(run)
            assert waited(lambda: is_over(run), 60, every=0.2), worker.log[-3000:]
            assert waited(lambda: done() == 1, 20, every=0.2), page().text

    assert row[0].startswith("mill-worker ")
    assert row[1].split(", ") == [site.queue, f"{site.queue}-chunks", f"{site.queue}-servers"]
    cache.clear()
    assert shown(admin.get(ADDRESS)).messages
