"""The Celery tasks of all parts of this app, in the place where Celery looks for them.

No other module imports this one; each task is defined in its own part. Arguments are ids, and each
task may be delivered twice. Task names begin with 'evaluation.tasks', as in messages of earlier
versions.
"""

from evaluation.exchange import tasks as exchange
from evaluation.jobs.kinds import JOBS
from evaluation.runs.services.chunks import RUN_CHUNKS
from evaluation.studies import tasks as studies

__all__ = ["JOBS", "RUN_CHUNKS", "exchange", "studies"]
