"""The Celery tasks of all rooms, where Celery looks for them; nothing imports this.

Each lies in its room. Their arguments are ids, and each may be delivered twice. Their names say
'evaluation.tasks', as messages of earlier versions do.
"""

from evaluation.exchange import tasks as exchange
from evaluation.jobs import tasks as jobs
from evaluation.runs import tasks as runs
from evaluation.studies import tasks as studies

__all__ = ["exchange", "jobs", "runs", "studies"]
