"""Rows of Langfuse, typed after its documentation of October 2026 and the code of version 4.16.

No file here was written by Langfuse, because its server is neither on PyPI nor on npm.
"""

import csv
import json
import re

import pyarrow as pa
import pyarrow.parquet as pq

NOT_ASKED = ("created_at", "updated_at", "project_id", "environment")  # fields of every row
ENDS = dict.fromkeys(NOT_ASKED, "")


def observation(key, trace="t1", **fields):
    return {
        "id": key,
        "trace_id": trace,
        "type": "SPAN",
        "parent_observation_id": "",
        "start_time": "2026-10-22 13:46:19.963000",
        "name": "chat",
        "input": "",
        "output": "",
        "provided_model_name": "",
        "model_parameters": "",
        "session_id": "",
        "bookmarked": False,
        **ENDS,
        **fields,
    }


def answered(key="o1", trace="t1", **fields):
    said = {"input": "Who built it?", "output": "Ilva Marren."}
    return observation(key, trace, **{**said, **fields})


def generation(key="g1", trace="t1", **fields):
    known = {"type": "GENERATION", "parent_observation_id": "o1", "provided_model_name": "small"}
    return answered(key, trace, **{**known, **fields})


def retriever(output, key="r1"):
    parent = {"type": "RETRIEVER", "parent_observation_id": "o1"}
    said = output if isinstance(output, str) else json.dumps(output)
    return observation(key, input="Who built it?", output=said, **parent)


def trace(key, **fields):
    return {
        "id": key,
        "timestamp": "2026-10-22 13:46:19.963000",
        "name": "chat",
        "session_id": None,
        "user_id": "user-1",
        "bookmarked": False,
        "tags": ["a"],
        "input": "Who built it?",
        "output": "Ilva Marren.",
        **ENDS,
        **fields,
    }


def score(key, name="grounded", value=1, kind="NUMERIC", **fields):
    return {
        "id": key,
        "timestamp": "2026-10-22 13:46:19.963000",
        "trace_id": "t1",
        "observation_id": None,
        "session_id": None,
        "dataset_run_id": None,
        "name": name,
        "value": value,
        "data_type": kind,
        "string_value": None,
        "source": "ANNOTATION",
        "comment": None,
        "author_user_id": "user-7",
        **ENDS,
        **fields,
    }


def as_pages_spell(row):
    """Return a row as the export from Langfuse's pages has it."""
    spelt = {re.sub("_(.)", lambda found: found[1].upper(), name): row[name] for name in row}
    renamed = {"authorUserId": "authorUserName", "providedModelName": "model"}
    return {renamed.get(name, name): value for name, value in spelt.items()}


def write_jsonl(path, rows):
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))


def write_json(path, rows):
    path.write_text(json.dumps(rows))


def write_csv(path, rows):
    """Write a CSV file: nested values become JSON, and a null becomes an empty cell."""
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0], quoting=csv.QUOTE_ALL)
        writer.writeheader()
        for row in rows:
            cells = {
                name: value if isinstance(value, str | None) else json.dumps(value)
                for name, value in row.items()
            }
            writer.writerow(cells)


def write_parquet(path, rows):
    pq.write_table(pa.Table.from_pylist(rows), path)


WRITERS = {
    ".jsonl": write_jsonl,
    ".json": write_json,
    ".csv": write_csv,
    ".parquet": write_parquet,
}


def export(folder, suffix=".jsonl", **files):
    for name, rows in files.items():
        WRITERS[suffix](folder / f"{name}{suffix}", rows)
    return folder
