"""The page of the workers: without any, and with some that work, wait and are silent."""

from collections.abc import Iterator
from datetime import timedelta

from django.core.cache import cache
from django.urls import reverse
from django.utils import timezone

from tests.e2e.stops import Stop, administrator
from work.worker_records import INDEX, WorkerRecord, write_record


def worker_stops() -> Iterator[Stop]:
    """Yield the page of the workers; workers of earlier tests are left out of the index."""
    admin, address = administrator(), reverse("work:workers")
    yield Stop("all work", admin, reverse("work:all"))
    yield Stop("all work, none like that", admin, f"{reverse('work:all')}?state=to-decide&mine=yes")
    cache.delete(INDEX)
    yield Stop("workers, none", admin, address)
    host, now = "a-very-long-name-of-a-host.cluster.example.org", timezone.now()
    waits = WorkerRecord(host, f"worker-1@{host}", 4021, ("celery", "celery-chunks"), now, now)
    write_record(waits)
    write_record(
        waits._replace(
            process_id=4022,
            heard_at=now - timedelta(minutes=1),
            model="example-organisation/a-model-with-a-long-name-8b-instruct",
            device="NVIDIA H100 80GB HBM3",
            tasks=("scores a run", "asks for a grid", "scores a run"),
            n_done=1_234_567,
        )
    )
    yield Stop("workers", admin, address)
