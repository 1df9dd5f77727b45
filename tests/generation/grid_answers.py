"""A process that makes the calls that a grid has left, for tests that kill it.

python -m tests.generation.grid_answers
"""

import os
import sys
import time
from pathlib import Path

import django

CALL_SECONDS = 0.001


def main(grid_id: int, log: Path) -> None:
    """Ask chunk by chunk; each call is written to the log as one line before it is answered."""
    django.setup()

    from generation.backends.registry import LANGUAGE_MODELS, LanguageModelKind
    from generation.models import Grid
    from generation.services.grid_chunks import GRID_CHUNKS
    from tests.generation.question_makers import LOGGING, Noting

    model = Noting()
    out = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    def note(n: int) -> str:
        prompt, decoding = model.asked[-1]
        os.write(out, f"{decoding.temperature} {prompt!r}\n".encode())
        time.sleep(CALL_SECONDS)
        return ""

    model.on_call = note
    LANGUAGE_MODELS[LOGGING] = LanguageModelKind("Notes", lambda spec: model, needs_model=False)
    grid = Grid.objects.get(pk=grid_id)
    while grid.state == Grid.State.RUNNING:
        if claim := GRID_CHUNKS.claim_next(grid):
            GRID_CHUNKS.do(claim)
        else:
            time.sleep(0.1)  # the lease of the killed process has to run out first
        grid.refresh_from_db()


if __name__ == "__main__":
    main(int(sys.argv[1]), Path(sys.argv[2]))
