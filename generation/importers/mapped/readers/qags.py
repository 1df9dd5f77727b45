"""QAGS: summaries of news, sentence by sentence, each with the votes of three workers.

A sentence is a response, the article is its evidence, and a row is one worker's vote on whether the
article says it. The file has no ids, so an article is identified by its line.
"""

from collections.abc import Iterator

from generation.importers.fields import Row
from generation.importers.mapped.readers.counts import LeftOut
from generation.importers.sources import Source
from generation.importers.tables import json_rows
from generation.records import Problem


def recognises(source: Source, name: str) -> bool:
    """Return whether this is a file of articles with votes on a summary's sentences."""
    first = source.head(name, 1 << 20).partition(b"\n")[0]
    return first.startswith(b"{") and b'"summary_sentences"' in first and b'"article"' in first


def rows(source: Source, name: str, left_out: LeftOut) -> Iterator[Row | Problem]:
    """Yield a row for each vote."""
    for row in json_rows(source, name):
        if isinstance(row, Problem):
            yield row
            continue
        sentences = row.required_list("summary_sentences", "sentences")
        votes = [
            (sentence.values.get("sentence"), vote.values)
            for sentence in row.objects("summary_sentences", sentences)
            for vote in sentence.objects("responses", sentence.required_list("responses", "votes"))
        ]
        if row.problems:
            yield from row.problems
            continue
        for sentence_text, said in votes:
            worker = said.get("worker_id")
            yield Row(
                row.where,
                {
                    "article": row.values.get("article"),
                    "sentence": sentence_text,
                    "worker": None if worker is None else str(worker),
                    "vote": said.get("response"),
                    "line": f"article-{row.where.line}",
                },
            )
