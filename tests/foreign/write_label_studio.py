"""Write the four exports that Label Studio 1.23.2 makes of a small project.

The server listens on this machine only, with SQLite, in a folder that is deleted afterwards. Four
people sign up on its page, and everything else uses its web API.
Usage: python write_label_studio.py FOLDER
"""

import secrets
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import requests

SECONDS_TO_START = 300  # its first start makes a database
QUIET = {
    "COLLECT_ANALYTICS": "false",
    "LATEST_VERSION_CHECK": "false",
    "SENTRY_DSN": "",
    "FRONTEND_SENTRY_DSN": "",
}
CONFIG = """
<View>
  <Header value="$question"/>
  <Text name="answer" value="$answer"/>
  <Choices name="grounded" toName="answer" choice="single">
    <Choice value="Supported"/><Choice value="Partly supported"/><Choice value="Not supported"/>
  </Choices>
  <Choices name="problems" toName="answer" choice="multiple">
    <Choice value="Off topic"/><Choice value="Wrong number"/>
  </Choices>
  <Rating name="quality" toName="answer" maxRating="5"/>
  <TextArea name="remark" toName="answer"/>
</View>
"""
KINDS = {"grounded": "choices", "problems": "choices", "quality": "rating", "remark": "textarea"}
COLUMNS = ("source_id", "question", "answer", "system")
TASKS = [
    (
        "q1",
        "How long do opossums live in the wild?",
        "Opossums typically live two to four years in the wild.",
        "rag-a",
    ),
    ("q2", "What do opossums eat?", "They eat fruit, insects and, now and then, paint.", "rag-a"),
    (
        "q3",
        "Where does the Virginia opossum live?",
        "From Central America and the eastern United States to southern Canada.",
        "rag-b",
    ),
    (
        "q4",
        "Why do opossums play dead?",
        "To deter predators; «playing possum» mimics a sick or dead animal.",
        "rag-b",
    ),
]
PREDICTIONS = {  # task → model version, score, answers
    1: [("judge-1", 0.93, {"grounded": ["Supported"], "quality": 5})],
    2: [
        ("judge-1", 0.41, {"grounded": ["Partly supported"], "quality": 3}),
        ("judge-2", 0.77, {"grounded": ["Not supported"], "quality": 2}),
    ],
}
RATERS = ("anna", "bert", "carla")
ANNOTATIONS = [  # rater, task, seconds, answers, further fields
    ("anna", 1, 12.5, {"grounded": ["Supported"], "quality": 3}, {}),
    (
        "bert",
        1,
        21.75,
        {"grounded": ["Supported"], "quality": 4, "remark": ["Two to four is right."]},
        {},
    ),
    (
        "anna",
        2,
        33.017,
        {
            "grounded": ["Partly supported"],
            "problems": ["Off topic", "Wrong number"],
            "quality": 2,
        },
        {},
    ),
    (
        "bert",
        2,
        40.5,
        {"grounded": ["Not supported"], "quality": 1, "remark": ["Paint?", "Not in the source."]},
        {},
    ),
    ("carla", 2, 9.1, {"grounded": ["Not supported"]}, {"ground_truth": True}),
    ("anna", 3, 3.3, {}, {"was_cancelled": True}),
    ("bert", 3, 11.0, {"grounded": ["Supported"], "quality": 5}, {}),
]
# Anna's second answer, to task 1.
LOOKED_AGAIN = {"seconds": 18.9, "said": {"grounded": ["Supported"], "quality": 4}}
EXPORTS = {
    "JSON": "label_studio_export.json",
    "JSON_MIN": "label_studio_export_min.json",
    "CSV": "label_studio_export.csv",
}


class Person:
    """A person who has signed up, and sends requests to addresses below that of the server."""

    def __init__(self, address: str, name: str) -> None:
        self._address = address
        self._session = requests.Session()
        self._session.trust_env = False  # no proxy for requests to this machine
        self._session.headers["Referer"] = address
        self.ask("GET", "/user/signup/")
        secret = secrets.token_urlsafe()
        signed_up = {"email": f"{name}@example.com", "password": secret}
        token = self._session.cookies["csrftoken"]
        self.ask("POST", "/user/signup/", data={**signed_up, "csrfmiddlewaretoken": token})
        number = self.ask("GET", "/api/current-user/whoami").json()["id"]
        self.ask("PATCH", f"/api/users/{number}/", json={"first_name": name.title()})

    def ask(self, method: str, path: str, **what) -> requests.Response:
        token = self._session.cookies.get("csrftoken", "")
        headers = {"X-CSRFToken": token}
        answer = self._session.request(method, self._address + path, headers=headers, **what)
        answer.raise_for_status()
        return answer


@contextmanager
def running_server() -> Iterator[str]:
    """Start Label Studio on a free port; yield its address, and stop it afterwards."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = f"http://127.0.0.1:{port}"
    program = Path(sys.executable).with_name("label-studio")
    where = ["--internal-host", "127.0.0.1", "--port", str(port), "--no-browser"]
    with TemporaryDirectory(dir=Path.home()) as folder, open(f"{folder}/log", "w+b") as log:
        own = dict.fromkeys(("HOME", "TMPDIR", "LABEL_STUDIO_BASE_DATA_DIR"), folder)
        server = subprocess.Popen(
            [program, "start", *where],
            env={"PYTHONUTF8": "1", **QUIET, **own},
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
        )
        try:
            wait_for(server, f"{address}/health", Path(log.name))
            yield address
        finally:
            server.terminate()
            try:
                server.wait(30)
            except subprocess.TimeoutExpired:
                server.kill()
                server.wait()


def wait_for(server: subprocess.Popen, address: str, log: Path) -> None:
    session = requests.Session()
    session.trust_env = False
    ends_at = time.monotonic() + SECONDS_TO_START
    while server.poll() is None and time.monotonic() < ends_at:
        try:
            session.get(address, timeout=10).raise_for_status()
            return
        except requests.RequestException:
            time.sleep(0.5)
    sys.exit(f"Label Studio did not start:\n{log.read_text('utf-8', 'replace')}")


def results(said: dict) -> list[dict]:
    """Return answers in Label Studio's form: lists of choices, lists of texts, or numbers."""
    found = []
    for name, answer in said.items():
        kind = KINDS[name]
        value = {"text" if kind == "textarea" else kind: answer}
        found.append({"from_name": name, "to_name": "answer", "type": kind, "value": value})
    return found


def fill(owner: Person, raters: dict[str, Person]) -> None:
    """Make the project and its tasks, and store the answers of models and raters."""
    owner.ask("POST", "/api/projects/", json={"title": "Opossums", "label_config": CONFIG})
    tasks = [
        {
            "data": dict(zip(COLUMNS, task, strict=True)),
            "predictions": [
                {"model_version": version, "score": score, "result": results(said)}
                for version, score, said in PREDICTIONS.get(number, [])
            ],
        }
        for number, task in enumerate(TASKS, 1)
    ]
    owner.ask("POST", "/api/projects/1/import", json=tasks)
    for rater, task, seconds, said, more in ANNOTATIONS:
        annotation = {"result": results(said), "lead_time": seconds, **more}
        raters[rater].ask("POST", f"/api/tasks/{task}/annotations/", json=annotation)
    again = {"result": results(LOOKED_AGAIN["said"]), "lead_time": LOOKED_AGAIN["seconds"]}
    raters["anna"].ask("PATCH", "/api/annotations/1/", json=again)


def export(owner: Person, folder: Path) -> None:
    for kind, name in EXPORTS.items():
        exported = owner.ask("GET", f"/api/projects/1/export?exportType={kind}")
        (folder / name).write_bytes(exported.content)
    whole = {"only_id": False}
    wanted = {"serialization_options": {"predictions": whole, "annotations__completed_by": whole}}
    snapshot = owner.ask("POST", "/api/projects/1/exports/", json=wanted).json()["id"]
    exported = owner.ask("GET", f"/api/projects/1/exports/{snapshot}/download")
    (folder / "label_studio_snapshot.json").write_bytes(exported.content)


def main(folder: Path) -> None:
    with running_server() as address:
        owner = Person(address, "owner")  # the first to sign up; the others join their organization
        raters = {name: Person(address, name) for name in RATERS}
        fill(owner, raters)
        export(owner, folder)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped"))
    main(Path(sys.argv[1]))
