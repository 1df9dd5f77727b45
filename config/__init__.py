"""Settings and the parts that join the apps. No app imports this package."""

import gc

from config.celery import app as celery_app

__all__ = ["celery_app"]

# Python looks for garbage after every 700 new objects. A process that starts makes hundreds of
# thousands, and nearly all are parts of modules, which stay. With more room between, each command
# starts a tenth sooner.
gc.set_threshold(50_000, 20, 50)
