"""The lock of a study, which orders what raters and researchers do to it at the same moment.

Those who rate share it: by a claim, a submit, a change of votes, a skip or a flag. Who closes the
study, takes raters out, excludes them or writes guidelines has it alone (`studies.lock_study`).
Researchers lock the study's row before it, so that they wait for each other while raters go on. All
else, such as units, slots and raters, is locked after it.

A statement that waits for a lock still sees what was there before it waited. So what counts is read
by a later statement than the one that takes this lock.

It is an advisory lock of PostgreSQL. A lock of the study's row would do the same, but raters who
share a row overtake a researcher who waits to have it alone, as long as they go on submitting. Here
no request is overtaken, and nothing is written. SQLite needs no lock, because its transactions are
IMMEDIATE.
"""

from django.db import connection

STUDIES = 1  # tells these locks from other advisory locks of the database
SHARED = f"SELECT pg_advisory_xact_lock_shared({STUDIES}, CAST(%(study)s AS integer))"
ALONE = f"SELECT pg_advisory_xact_lock({STUDIES}, CAST(%(study)s AS integer))"


def has_study_locks() -> bool:
    """Return whether the database needs and has these locks."""
    return connection.vendor == "postgresql"


def lock_alone(study_id: int) -> None:
    """Wait for all who rate in a study; no rater goes on before this transaction ends."""
    if has_study_locks():
        with connection.cursor() as cursor:
            cursor.execute(ALONE, {"study": study_id})
