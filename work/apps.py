"""The app of long work; it has no models."""

from django.apps import AppConfig


class WorkConfig(AppConfig):
    name = "work"

    def ready(self) -> None:
        """Follow Celery's workers: each task is a sign of life, and each process has a record."""
        from celery import signals

        from work import worker_records
        from work.worker_health import give_sign

        for moment in (signals.task_prerun, signals.task_postrun):
            moment.connect(give_sign, dispatch_uid="work.sign")
        for moment, follow in (
            (signals.celeryd_after_setup, worker_records.begin_worker),
            (signals.worker_process_init, worker_records.begin_process),
            (signals.task_prerun, worker_records.begin_task),
            (signals.task_postrun, worker_records.end_task),
            (signals.worker_shutting_down, worker_records.stop_process),
            (signals.worker_process_shutdown, worker_records.end_process),
            (signals.worker_shutdown, worker_records.end_worker),
        ):
            moment.connect(follow, dispatch_uid="work.record")
