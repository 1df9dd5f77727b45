"""A bundle that no export wrote is one error, before a database or a process is made for it."""

import io
import json
import zipfile
from typing import Any

import pytest

from evaluation.reports.manifest import rows_hash
from evaluation.votes.digests import FileDigest
from tests.evaluation.commands import failure

EXAMPLE = {"id": "e1", "turns": [{"speaker": "user", "text": "Where is Rome?"}]}
MB = 1024**2


def sound() -> dict[str, Any]:
    return {
        "format": "attest manifest",
        "version": 1,
        "subject": {"kind": "dataset", "name": "pilot", "dataset": "pilot"},
        "code": {"version": "0"},
        "packages": {},
        "data": {"examples.jsonl": FileDigest(1, {"e1": 1}).as_json()},
        "reports": [
            {
                "report": "retrieval",
                "choices": {},
                "left_out": {},
                "signature": "s",
                "rows": [{"n": 1}],
                "rows_sha256": rows_hash([{"n": 1}]),
            }
        ],
    }


def with_change(*path: Any, to: Any = None) -> str:
    """Return the text of a manifest in which one value is another one, or is gone."""
    manifest = sound()
    *around, last = path
    holder: Any = manifest
    for key in around:
        holder = holder[key]
    if to is None:
        del holder[last]
    else:
        holder[last] = to
    return json.dumps(manifest)


DATA = ("data", "examples.jsonl")
REPORT = ("reports", 0)
NESTED = "[" * 100_000 + "]" * 100_000


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "found an empty text; expected valid JSON"),
        ("{", "found text that is not JSON"),
        ('{"format": 1, "format": 2}', 'found the key "format" twice'),
        (b"\xff\xfe\x00", "manifest.json: found"),
        (NESTED, "found brackets that are nested too deep; expected at most 32 levels"),
        ("[" * 40 + "]" * 40, "found more than 32 levels"),
        ("[1]", "found no manifest"),
        (with_change("version", to="1"), 'version: found "1"; expected 1'),
        (with_change("subject"), "subject: found nothing; expected an object"),
        (with_change("subject", to=["study"]), 'subject: found ["study"]; expected an object'),
        (with_change("subject", "kind", to=["study"]), "subject.kind: found"),
        (with_change("subject", "name", to=7), "subject.name: found 7; expected a text"),
        (with_change("subject", "dataset", to="x" * 101), "expected a text of 1 to 100 characters"),
        (with_change("subject", "name", to="a\0"), "found a NUL character"),
        (with_change("code"), "code: found nothing"),
        (with_change("packages", to={"torch": 2}), "packages.torch: found 2; expected a text"),
        (with_change("data", to=[]), "data: found []; expected an object"),
        (with_change("data", "../votes.csv", to={}), 'data, key: found "../votes.csv"; expected'),
        (with_change("data", "a\\votes.csv", to={}), "expected the plain name of a file"),
        (with_change("data", ".votes.csv", to={}), "expected the plain name of a file"),
        (with_change("data", "/votes.csv", to={}), "expected the plain name of a file"),
        (with_change(*DATA, "rows", to=-1), "examples.jsonl.rows: found -1; expected a whole"),
        (with_change(*DATA, "items", "e1", to="zz"), 'items.e1: found "zz"; expected a checksum'),
        (with_change(*DATA, "sha256", to="0" * 64), "sha256: found another checksum"),
        (with_change("reports", to={}), "reports: found {}; expected a list"),
        (with_change("reports", to=["raters"]), 'reports[1]: found "raters"; expected an object'),
        (with_change(*REPORT, "report", to=[1]), "reports[1].report: found [1]; expected a text"),
        (with_change(*REPORT, "choices", to="x"), "reports[1].choices: found"),
        (with_change(*REPORT, "rows", to=[1]), "reports[1].rows[1]: found 1; expected an object"),
        (with_change(*REPORT, "rows", to=[{"n": 2}]), "the checksum of the rows of retrieval"),
        (with_change(*REPORT, "signature"), "reports[1].signature: found nothing"),
        (with_change(*REPORT, "left_out", to={"no": "1"}), 'left_out.no: found "1"; expected'),
    ],
)
def test_a_manifest_says_where_it_is_wrong(tmp_path, text, says):
    content = text if isinstance(text, bytes) else text.encode()
    alone = tmp_path / "manifest.json"
    alone.write_bytes(content)
    bundle = tmp_path / "bundle.zip"
    bundle.write_bytes(zipped({"manifest.json": content}))

    for path in (alone, bundle):
        said = failure("reproduce", path)
        assert says in said
        assert len(said) < 1000


@pytest.mark.parametrize(
    ("members", "says"),
    [
        ({"export/../votes.csv": b""}, "found '..' in the path; expected a plain name"),
        ({"export\\votes.csv": b""}, "found a backslash in the name"),
        ({"/export/votes.csv": b""}, "found an absolute path"),
        ({"C:/votes.csv": b""}, "found an absolute path"),
        ({"export/.votes.csv": b""}, 'bundle.zip: "export/.votes.csv": found a hidden file'),
        ({".git/config": b""}, "found a hidden file"),
        ({"manifest.json": b"0" * 70 * MB}, "manifest.json: found more than 67,108,8"),
        ({"export/votes.csv": b"0" * 70 * MB}, "votes.csv: found more than 67,108,8"),
        ({"export/votes.csv": b'response,answer\n"a'}, "votes.csv, line 2: found a row that is"),
        ({"export/votes.csv": b"a,a\n1,2\n"}, "a: found two columns with this name"),
        ({"export/examples.jsonl": b"7\n"}, "examples.jsonl, line 1: found 7; expected one JSON"),
        ({"export/examples.jsonl": NESTED.encode()}, "found brackets that are nested too deep"),
        ({"export/examples.jsonl": b"\xff\n"}, "found byte 0xff"),
        ({"export/study.json": b"[]"}, "study.json, line 1: found []; expected one JSON object"),
    ],
)
def test_a_bundle_is_read_within_the_limits_of_imports(tmp_path, members, says):
    path = tmp_path / "bundle.zip"
    path.write_bytes(zipped(members))

    assert says in failure("reproduce", path)


def test_a_bundle_that_is_damaged_or_has_a_name_twice_is_refused(tmp_path):
    twice, damaged = tmp_path / "twice.zip", tmp_path / "damaged.zip"
    content = zipped({"export/examples.json_": json.dumps(EXAMPLE).encode()})
    twice.write_bytes(content.replace(b"examples.json_", b"examples.jsonl"))
    damaged.write_bytes(zipped({}).replace(b"Where is Rome?", b"Where is Roma?"))

    assert "found two files with this name" in failure("reproduce", twice)
    assert "examples.jsonl: found damaged data (Bad CRC-32" in failure("reproduce", damaged)


def test_the_password_of_a_database_is_in_no_error(tmp_path, monkeypatch):
    path = tmp_path / "bundle.zip"
    path.write_bytes(zipped({}))
    for url in ("mysql://anna:secret@here/db", "postgres://anna:se%zzcret@here/db", "secret"):
        monkeypatch.setenv("ATTEST_REPRODUCE_DATABASE_URL", url)

        said = failure("reproduce", path)

        assert said.startswith("ATTEST_REPRODUCE_DATABASE_URL: found no URL of PostgreSQL")
        assert "cret" not in said


def zipped(members: dict[str, bytes]) -> bytes:
    """Return a sound bundle in which some members are added, or take the place of its own."""
    own = {
        "manifest.json": json.dumps(sound()).encode(),
        "export/examples.jsonl": json.dumps(EXAMPLE).encode(),
    }
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, content in (own | members).items():
            is_large = len(content) > MB
            how = zipfile.ZIP_DEFLATED if is_large else zipfile.ZIP_STORED
            archive.writestr(zipfile.ZipInfo(name), content, compress_type=how)
    return out.getvalue()
