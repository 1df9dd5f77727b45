"""Schemathesis asks the API whatever its OpenAPI document allows, and much that it does not."""

import re
import subprocess
import sys

import pytest

from accounts.services import create_api_token
from evaluation.runs.services.chunks import RUN_CHUNKS
from tests.annotation.makers import material, opened, rate_next, raters_of
from tests.evaluation.pages import make_pilot

pytestmark = pytest.mark.once

SECONDS = 60
CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_schema_conformance",
)


@pytest.mark.faults
def test_no_request_breaks_the_api_or_its_document(live_server, rosa, tmp_path, monkeypatch):
    # Hundreds of runs are asked for; a worker of another test shall not find them.
    monkeypatch.setattr(RUN_CHUNKS.task, "apply_async_on_commit", lambda ids, queue: None)
    make_pilot(tmp_path)
    study = opened(material(tmp_path / "mill"))
    for rater in raters_of(study):
        rate_next(rater)
    token = create_api_token(rosa, "fuzz")

    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "schemathesis.cli",
            "run",
            f"{live_server.url}/api/schema/",
            *("-H", f"Authorization: Bearer {token}"),
            *("--checks", ",".join(CHECKS)),
            *("--max-time", str(SECONDS)),
            *("--seed", "13"),
            "--continue-on-failure",
            "--no-color",
        ],
        cwd=tmp_path,  # it keeps notes where it runs
        capture_output=True,
        text=True,
        timeout=10 * SECONDS,
    )

    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:]
    # Every operation of the document was asked.
    assert re.search(r"Selected: (\d+)/\1\s+Tested: \1\s", done.stdout), done.stdout[-3000:]
