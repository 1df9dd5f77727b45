"""A process that sends messages about work to a site's broker, for tests that lose or double them.

python -m tests.work.message_sender

It reads one order a line, and answers each with a line: 'send TASK TIMES ID ID …', or 'purge'.
"""

import sys

import django


def main() -> None:
    """Obey orders until there are no more."""
    django.setup()

    from config.celery import app
    from work.pieces import piece_kinds

    app.loader.import_default_modules()  # the modules that register kinds are among them
    kinds = {kind.task_name: kind for kind in piece_kinds()}
    for line in sys.stdin:
        order, *words = line.split()
        if order == "purge":
            app.control.purge()
        else:
            task, times, *ids = words
            kind = kinds[task]
            for _ in range(int(times)):
                kind.send(kind.rows().filter(pk__in=ids).order_by("pk"))
        sys.stdout.write("done\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
