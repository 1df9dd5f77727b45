"""The app of long work; it has no models."""

from django.apps import AppConfig


class WorkConfig(AppConfig):
    name = "work"

    def ready(self) -> None:
        """Count each task that a worker takes from the queue as a sign that workers are alive."""
        from celery import signals

        from work.worker_health import give_sign

        for moment in (signals.task_prerun, signals.task_postrun):
            moment.connect(give_sign, dispatch_uid="work.sign")
