"""WSGI entry point (gunicorn config.wsgi)."""

import os
from threading import Timer

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

application = get_wsgi_application()

from generation.retrieval.entities import load_ahead  # noqa: E402 - needs the apps

# Otherwise the first page of a question waits for seconds. The first pages of a site come before.
later = Timer(5, load_ahead)
later.daemon = True
later.start()
