"""SCAI-QReCC-21 as interchange files: `python -m tests.scai_qrecc SHARED FOLDER`.

Each turn becomes an example of its conversation, each system a setup, each answer a response. We
read `joined_items.json` as follows:

- The user's turn is the rewrite. Where the history is null, the turns before it are not known:
  `meta` says `"history": "unknown"`, and the dialog is the question alone.
- All passages of a turn are evidence. The file does not say from which one the gold answer was
  written: the one that has most of its tokens (the first of several) is golden, and `meta` says
  `"guessed"`.
- Texts of passages were cut at 4,000 characters; `meta` names the cut ones. The file does not say
  which passages a system was shown.
"""

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from generation.importers.short_keys import short_key
from generation.text.tokens import token_recall

ITEMS = "data/scai_qrecc21/joined_items.json"
SPEAKERS = ("user", "assistant")  # the speakers of a history alternate

Row = dict[str, Any]


def write_scai(shared: Path, folder: Path) -> Path:
    """Write the examples and responses of the folder of real data into `folder`; return it."""
    items = json.loads((shared / ITEMS).read_text("utf-8"))
    folder.mkdir(parents=True, exist_ok=True)
    _write(folder / "examples.jsonl", map(_example, items))
    _write(folder / "responses.jsonl", (row for item in items for row in _responses(item)))
    return folder


def _example(item: Row) -> Row:
    texts = [*(item["history"] or ()), item["rewrite"]]
    meta: Row = {"golden": "guessed"}
    if item["history"] is None:
        meta["history"] = "unknown"
    if cut := [short_key(passage["id"]) for passage in item["passages"] if passage["truncated"]]:
        meta["cut_passages"] = cut
    return {
        "id": _key(item),
        "dialog": str(item["conversation_no"]),
        "turns": [
            {"speaker": SPEAKERS[place % 2], "text": text} for place, text in enumerate(texts)
        ],
        "golden_answer": item["gold_answer"],
        "evidence": _evidence(item),
        "meta": meta,
    }


def _evidence(item: Row) -> list[Row]:
    shares = [token_recall(item["gold_answer"], passage["text"]) for passage in item["passages"]]
    golden = shares.index(max(shares))
    return [
        {"id": short_key(passage["id"]), "text": passage["text"], "golden": place == golden}
        for place, passage in enumerate(item["passages"])
    ]


def _responses(item: Row) -> list[Row]:
    return [
        {
            "id": f"{_key(item)}-{number}",
            "example": _key(item),
            "setup": answer["system"],
            "text": answer["text"],
            "meta": {"sas": answer["sas"]},
        }
        for number, answer in enumerate(item["answers"], start=1)
    ]


def _key(item: Row) -> str:
    return f"{item['conversation_no']}_{item['turn_no']}"


def _write(path: Path, rows: Iterable[Row]) -> None:
    lines = [json.dumps(row, ensure_ascii=False) + "\n" for row in rows]
    path.write_text("".join(lines), encoding="utf-8")


if __name__ == "__main__":
    write_scai(Path(sys.argv[1]), Path(sys.argv[2]))
