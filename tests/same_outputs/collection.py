"""The answers of one commit by address, written by the collector and read by the comparison."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

INDEX = "index.jsonl"


class Answer(NamedTuple):
    """The answer to one address: a page, a file, or the output of a command."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Collection(Mapping[str, Answer]):
    """Answers by address, in a folder; a body is read when it is asked for."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        lines = (folder / INDEX).read_text("utf-8").splitlines()
        self._rows = {row["address"]: row for row in map(json.loads, lines)}

    def __getitem__(self, address: str) -> Answer:
        row = self._rows[address]
        body = (self._folder / row["body"]).read_bytes()
        return Answer(row["status"], row["headers"], body)

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)


class Collector:
    """Writes answers into a folder. The first answer of an address counts."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._seen: set[str] = set()
        self._index = (folder / INDEX).open("w", encoding="utf-8")

    def store(self, address: str, answer: Answer) -> None:
        if address in self._seen:
            return
        self._seen.add(address)
        name = hashlib.sha256(answer.body).hexdigest()
        (self._folder / name).write_bytes(answer.body)
        row = {
            "address": address,
            "status": answer.status,
            "headers": dict(answer.headers),
            "body": name,
        }
        self._index.write(json.dumps(row, ensure_ascii=False) + "\n")
        self._index.flush()
