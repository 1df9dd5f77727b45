"""5,000 damaged workbooks, frames, datasets and zips: each is read, or one known error."""

import io
import json
import random
import zipfile
from functools import partial

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from openpyxl import Workbook

from generation.importers import DatasetError, open_material
from tests.evaluation.exchange.mutations import mutated
from tests.generation.importers.mapped import langfuse_rows
from tests.generation.importers.mapped.test_infotabs import claim, votes_file

pytestmark = pytest.mark.faults

N_MUTATIONS = 5_000
SEED = 13
HEADER = ["question", "context", "answer", "model"]
ROWS = [[f"Who {n}?", "It is tall. " * 20, f"She {n}.", "m"] for n in range(20)]


def workbook(*above: list[str]) -> bytes:
    book = Workbook(write_only=True)
    for title, rows in (("Notes", above), ("Data", (*above, HEADER, *ROWS))):
        sheet = book.create_sheet(title)
        for row in rows:
            sheet.append(row)
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()


def table() -> pa.Table:
    columns = dict(zip(HEADER, zip(*ROWS, strict=True), strict=True))
    return pa.table({**columns, "contexts": [["a", "b"]] * len(ROWS)})


def parquet() -> bytes:
    file = io.BytesIO()
    pq.write_table(table(), file)
    return file.getvalue()


def arrow() -> bytes:
    file = io.BytesIO()
    with pa.ipc.new_stream(file, table().schema) as writer:
        writer.write_table(table())
    return file.getvalue()


def zipped(members: dict[str, str]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return file.getvalue()


def infotabs() -> bytes:
    tables = {"T1": {"title": ["Ansel Light"], "Built": ["1846"]}}
    votes = votes_file(claim(), claim())
    return zipped({"infotabs_valid.tsv": votes, "tables.json": json.dumps(tables)})


def form_export() -> bytes:
    form = "Timestamp,Email,Ok? [q1],Ok? [q2]\n2026-03-04 10:30,a@b.org,yes,no\n"
    items = "key,question,answer\nq1,Who?,She.\nq2,Why?,So.\n"
    return zipped({"form.csv": form, "items.csv": items})


def langfuse() -> bytes:
    files = {
        "traces.jsonl": [langfuse_rows.trace("t1")],
        "observations.jsonl": [
            langfuse_rows.generation(),
            langfuse_rows.retriever(["It is tall."]),
        ],
        "scores.jsonl": [langfuse_rows.score("s1"), langfuse_rows.score("s2", source="EVAL")],
    }
    return zipped(
        {name: "".join(f"{json.dumps(row)}\n" for row in rows) for name, rows in files.items()}
    )


def titled() -> bytes:
    rows = (["Pilot", "", "", ""], HEADER, *ROWS)
    return "\n".join(map(";".join, rows)).encode()


def with_a_sign_and_cr() -> bytes:
    return "\r".join(["sep=|", *map("|".join, (HEADER, *ROWS))]).encode()


def frame(orient: str) -> bytes:
    columns = {
        name: {str(n): row[k] for n, row in enumerate(ROWS)} for k, name in enumerate(HEADER)
    }
    forms: dict[str, object] = {
        "columns": columns,
        "index": {str(n): dict(zip(HEADER, row, strict=True)) for n, row in enumerate(ROWS)},
        "split": {"columns": HEADER, "data": ROWS},
    }
    return json.dumps(forms[orient]).encode()


def damaged(content: bytes, drawn: random.Random) -> bytes:
    """Return a file with some bytes changed; of a zip, mostly inside one of its members."""
    if not content.startswith(b"PK") or drawn.random() < 0.3:
        return mutated(content, drawn)
    file = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(content)) as sound,
        zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as changed,
    ):
        victim = drawn.choice(sound.namelist())
        for name in sound.namelist():
            member = sound.read(name)
            changed.writestr(name, mutated(member, drawn) if name == victim else member)
    return file.getvalue()


@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("t.xlsx", workbook),
        ("below.xlsx", lambda: workbook(["Pilot"], ["A note"])),
        ("titled.csv", titled),
        ("cr.csv", with_a_sign_and_cr),
        *((f"{orient}.json", partial(frame, orient)) for orient in ("columns", "index", "split")),
        ("t.parquet", parquet),
        ("data-0.arrow", arrow),
        ("infotabs.zip", infotabs),
        ("langfuse.zip", langfuse),
        ("form.zip", form_export),
    ],
)
def test_a_damaged_file_is_no_fault_of_ours(tmp_path, name, make):
    content, drawn = make(), random.Random(SEED)
    (tmp_path / "state.json").write_text("{}")
    path = tmp_path if name.endswith(".arrow") else tmp_path / name
    n_refused = 0
    for _ in range(N_MUTATIONS):
        (tmp_path / name).write_bytes(damaged(content, drawn))
        try:
            with open_material(path) as material:
                for kind in material.kinds:
                    list(material.records(kind))
        except DatasetError:
            n_refused += 1
    assert 0 < n_refused < N_MUTATIONS
