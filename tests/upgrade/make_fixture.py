"""Write the state of a commit's installation in the middle of its work: rows, queue, uploads.

It runs in that commit's folder, with that commit's code (tests/data/upgrade/README.md says how), so
it uses pages, the API, commands, models and tasks by name, and imports few modules.
"""

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

JUDGE = "http://127.0.0.1:9/v1"  # stands for the address of the language model's server
SSA = {"key": "own", "questions": [{"key": "sensible", "scale": "yes_no"}]}
FLAG_REASON = "Text is cut off or garbled"  # one of the reasons that a rater may choose
N_EXAMPLES, N_RATED = 12, 4
LEASE_SECONDS = 1
WAITS_SECONDS = 60.0
# Rows that `migrate` or a sign-in makes anew.
MADE_ANEW = ["auth.permission", "contenttypes", "sessions"]


def main(target: Path) -> None:
    with TemporaryDirectory() as folder:
        _configure(Path(folder))
        import django

        django.setup()
        from django.core.management import call_command

        call_command("migrate", verbosity=0)
        _leave_work_undone(Path(folder))
        _write(target, Path(folder))


def _configure(folder: Path) -> None:
    os.environ |= {
        "DJANGO_DEBUG": "1",
        "DJANGO_SETTINGS_MODULE": "config.settings_test",
        "ATTEST_DATA_DIR": str(folder / "data"),
        "DATABASE_URL": f"sqlite:///{folder}/attest.sqlite3",
        "CELERY_BROKER_URL": "filesystem://",
        "CACHE_URL": f"filecache://{folder}/cache",
        "ATTEST_CHUNK_LEASE_SECONDS": str(LEASE_SECONDS),
        "PYTHONPATH": os.getcwd(),
    }
    sys.path.insert(0, os.getcwd())


# --- what people asked for ------------------------------------------------------------------


def _leave_work_undone(folder: Path) -> None:
    """Request work of every kind, and stop it in the middle."""
    _import_mill(folder / "mill")
    researcher = _browser(_person("rosa", "researcher"))
    _rate_in_part()
    _search_in_part(researcher, folder)
    _score_in_part(researcher)
    _ask_in_part(researcher)
    _ask_for_the_rest(researcher)
    _upload(_browser(_person("adam", "admin")))


def _person(name: str, role: str) -> Any:
    from django.contrib.auth.models import Group

    from accounts.models import User

    user = User.objects.create_user(name)
    user.groups.add(Group.objects.get(name__iexact=role))
    return user


def _browser(user: Any) -> Any:
    from django.test import Client

    client = Client(SERVER_NAME="127.0.0.1")
    client.force_login(user)
    return client


def _import_mill(folder: Path) -> None:
    """Import two responses to each example, and votes of five raters for the first examples."""
    from django.core.management import call_command

    folder.mkdir()
    numbers = range(N_EXAMPLES)
    examples = [_example(n) for n in numbers]
    responses = [_response(n, setup) for n in numbers for setup in ("cool", "warm")]
    _write_lines(folder / "examples.jsonl", examples)
    _write_lines(folder / "responses.jsonl", responses)
    votes = [
        f"r{n}-cool,w{rater},sensible,{'yes' if rater <= n else 'no'}"
        for n in range(N_RATED)
        for rater in range(1, 6)
    ]
    (folder / "votes.csv").write_text("\n".join(["response,rater,question,answer", *votes]))
    (folder / "scheme.json").write_text(json.dumps(SSA))
    call_command("import_dataset", folder, name="mill", study="Rated elsewhere")


def _example(n: int) -> dict[str, Any]:
    passage = {"id": f"p{n}", "text": f"Mill {n} closed in {1900 + n}. A flood had ruined it."}
    turns = [{"speaker": "user", "text": f"When did mill {n} close?"}]
    return {"id": f"e{n}", "dialog": f"d{n}", "turns": turns, "evidence": [passage | GOLDEN]}


GOLDEN = {"golden": True}


def _response(n: int, setup: str) -> dict[str, Any]:
    text = f"It closed in {1900 + n}." if setup == "cool" else f"Mill {n} was ruined by a flood."
    shown = [f"p{n}"]
    return {"id": f"r{n}-{setup}", "example": f"e{n}", "setup": setup, "text": text} | {
        "evidence_shown": shown
    }


def _write_lines(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


# --- people ---------------------------------------------------------------------------------


def _rate_in_part() -> None:
    """Let two raters submit units; one then has a draft in hand, and the other has flagged hers."""
    from django.core.management import call_command

    raters = [_person(name, "rater") for name in ("rachel", "ruth", "rufus")]
    names = [rater.username for rater in raters]
    call_command(
        "create_study", "Half rated", dataset="mill", scheme="SSA", raters=names, open=True,
        raters_per_unit=3, sample=4,
    )  # fmt: skip
    answers = {"sensible-1": "1", "specific-1": "0", "seconds": "12.0"}
    for rater, n_submitted in zip(raters, (3, 1), strict=False):
        client = _browser(rater)
        unit = client.post("/studies/half-rated/next/").url
        for _ in range(n_submitted):
            unit = client.post(unit, answers).url
        if n_submitted == 3:
            _expect(client.post(f"{unit}draft/", {"sensible-1": "1", "seconds": "7.0"}), 200, 204)
        else:
            flag = {"reason": FLAG_REASON, "note": "No words.", "responses": ["1"]}
            _expect(client.post(f"{unit}flag/", flag), 302)


def _expect(answer: Any, *statuses: int) -> Any:
    assert answer.status_code in statuses, (answer.status_code, answer.content[:3000])
    return answer


# --- workers --------------------------------------------------------------------------------


def _score_in_part(client: Any) -> None:
    """Request a run of five chunks, and score two of them."""
    _expect(_post(client, "runs/", dataset="mill"), 202)
    _take(_queues()[1], 2)


def _ask_in_part(client: Any) -> None:
    """Start a grid of two setups and six chunks and ask two; leave a second grid unplanned."""
    waiting = _messages()  # messages of the run; they are older, and must stay in the queue
    grid: dict[str, Any] = {"name": "half asked", "models": [{"name": "extractive"}]}
    grid |= {"prompts": ["no-evidence", "golden"], "temperatures": [0]}
    asked = _expect(_post(client, "grids/", dataset="mill", grid=grid), 202).json()
    _take(_queues()[0], 1)
    with _aside(waiting):
        _expect(_post(client, f"grids/{asked['id']}/start/"), 202)
        _take(_queues()[1], 2)
    grid |= {"name": "to be planned", "prompts": ["golden"]}
    _expect(_post(client, "grids/", dataset="mill", grid=grid), 202)


def _search_in_part(client: Any, folder: Path) -> None:
    """Kill the worker of a prompt search after its first prompt; send the search again, as beat."""
    from evaluation.models import Job
    from generation.models import Checkpoint
    from tests.language_model_server import says, stand_in

    with stand_in() as server:
        begun = says("Answer: 0.4 ###")
        server.otherwise = lambda request: (
            says("", after=600.0) if request.prompt.count("Answer:") else begun
        )(request)
        Checkpoint.objects.create(
            name="judge", backend="openai", location=server.url, served_name="judge"
        )
        search = {"slice": "rated-elsewhere/sensible/cool", "model": "judge", "name": "better"}
        _expect(client.post("/metrics/jobs/new/search/", search | {"seed": "0"}), 302)
        with (folder / "worker.log").open("wb") as log:
            worker = subprocess.Popen(
                [sys.executable, "-m", "celery", "--app=config", "worker", "--pool=solo",
                 "--without-gossip", "--without-mingle", "--without-heartbeat",
                 f"--queues={_queues()[2]}"], stdout=log, stderr=log,
            )  # fmt: skip
        _wait(lambda: Job.objects.filter(n_done=1).exists(), folder / "worker.log")
        worker.kill()
        worker.wait()
        for row in Job.objects.all():
            row.parameters["location"] = JUDGE
            row.save()
        Checkpoint.objects.update(location=JUDGE)
    time.sleep(2 * LEASE_SECONDS)
    _do("evaluation.tasks.resend_lost_jobs")


def _ask_for_the_rest(client: Any) -> None:
    """Request a sample, an index and figures, which no worker has begun."""
    from annotation.models import Study
    from evaluation.reports.base import USUAL

    sample: dict[str, Any] = {"dataset": "mill", "name": "drawn", "size": 5}
    _expect(_post(client, "samples/", **sample), 202)
    _expect(client.post("/data/mill/retrieval/index"), 302)
    study = Study.objects.get(slug="half-rated")
    _task("evaluation.tasks.compute_figures").delay_on_commit(study.pk, USUAL._asdict())


def _upload(client: Any) -> None:
    from django.core.files.uploadedfile import SimpleUploadedFile

    line = json.dumps({"id": "1", "turns": [{"speaker": "user", "text": "Why did it close?"}]})
    file = SimpleUploadedFile("examples.jsonl", line.encode())
    asked = {"file": file, "name": "Uploaded", "format": "", "study": "", "encoding": ""}
    _expect(client.post("/data/import/", asked), 302)


def _post(client: Any, address: str, **asked: Any) -> Any:
    return client.post(f"/api/v1/{address}", asked, content_type="application/json")


# --- the queue ------------------------------------------------------------------------------


def _queues() -> tuple[str, str, str]:
    from django.conf import settings

    return settings.CELERY_TASK_DEFAULT_QUEUE, settings.CHUNK_QUEUE, settings.SERVER_QUEUE


def _folder() -> Path:
    from django.conf import settings

    return settings.QUEUE_DIR / "messages"


def _messages() -> list[Path]:
    return sorted(_folder().glob("*.msg"))


class _aside:
    """A context in which workers do not see some messages."""

    def __init__(self, messages: list[Path]) -> None:
        self._messages = messages

    def __enter__(self) -> None:
        for message in self._messages:
            message.rename(message.with_suffix(".aside"))

    def __exit__(self, *error: object) -> None:
        for message in self._messages:
            message.with_suffix(".aside").rename(message)


def _task(name: str) -> Any:
    from config.celery import app

    app.loader.import_default_modules()
    return app.tasks[name]


def _do(name: str, *arguments: Any) -> None:
    _task(name)(*arguments)


def _take(queue: str, n: int) -> None:
    """Take the next n messages of a queue and execute their tasks, as a worker does."""
    from config.celery import app

    with app.connection_for_read() as connection:
        channel = connection.default_channel
        for _ in range(n):
            message = channel.basic_get(queue, no_ack=True)
            assert message is not None, f"{queue} is empty"
            arguments, _by_name, _ = message.decode()
            _do(message.headers["task"], *arguments)


def _wait(until: Callable[[], bool], log: Path) -> None:
    ends = time.monotonic() + WAITS_SECONDS
    while not until():
        assert time.monotonic() < ends, log.read_text()[-5000:]
        time.sleep(0.05)


# --- what is written ------------------------------------------------------------------------


def _write(target: Path, folder: Path) -> None:
    from django.conf import settings
    from django.core.management import call_command
    from django.db import connection
    from django.db.migrations.recorder import MigrationRecorder

    from config.celery import app

    for part in ("queue", "uploads"):
        shutil.rmtree(target / part, ignore_errors=True)
    target.mkdir(parents=True, exist_ok=True)
    rows = target / "rows.jsonl"
    call_command("dumpdata", exclude=MADE_ANEW, format="jsonl", output=rows, verbosity=0)
    migrations = sorted(MigrationRecorder(connection).applied_migrations())
    tasks = sorted(name for name in app.tasks if not name.startswith("celery."))
    _write_lines(target / "migrations.jsonl", [{"app": a, "name": n} for a, n in migrations])
    (target / "tasks.txt").write_text("".join(f"{name}\n" for name in tasks))
    shutil.copytree(_folder(), target / "queue")
    shutil.copytree(settings.MEDIA_ROOT, target / "uploads")


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
