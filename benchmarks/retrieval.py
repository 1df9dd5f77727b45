"""Rank N passages of about 150 words by our BM25 and by rank-bm25: seconds, memory, equal answers.

Words are drawn by Zipf's law, so the words in use grow with the collection. Queries are drawn
likewise, so they have frequent words, as questions do. There are three processes: one builds and
saves the index, one maps it and answers, one has both it and rank-bm25 and asks them the same
queries in turn. The time of a query is CPU time, because other work may run on the machine.

    .venv/bin/python benchmarks/retrieval.py --json
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent))

from rank_bm25 import BM25Okapi  # type: ignore[import-untyped]

from generation.retrieval.bm25 import PassageIndex
from generation.text.tokens import tokens

K = 10
QUERY_WORDS = (5, 15)
EXPONENT = 1.07  # the exponent of Zipf's law for English
VOCABULARY = 400_000


class Words:
    """Words drawn by Zipf's law."""

    def __init__(self, seed: int) -> None:
        self._random = np.random.default_rng(seed)
        weights = np.arange(1, VOCABULARY + 1) ** -EXPONENT
        self._cumulated = np.cumsum(weights) / weights.sum()

    def texts(self, n: int, shortest: int, longest: int) -> Iterator[str]:
        """Yield `n` texts of `shortest` to `longest` words."""
        for length in self._random.integers(shortest, longest + 1, n):
            ranks = np.searchsorted(self._cumulated, self._random.random(length))
            yield " ".join(f"w{rank}" for rank in ranks)


def passages(options: argparse.Namespace) -> Iterator[str]:
    """Yield the collection, which is the same in every process."""
    spread = options.words // 3
    return Words(1).texts(options.passages, options.words - spread, options.words + spread)


def queries(options: argparse.Namespace) -> list[str]:
    return list(Words(2).texts(options.queries, *QUERY_WORDS))


def peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def build(options: argparse.Namespace, folder: Path) -> dict[str, float]:
    """Build and save the index. The time to make the texts is subtracted."""
    began = time.process_time()
    n_bytes = sum(len(text) for text in passages(options))
    made = time.process_time()
    before = peak_mb()
    PassageIndex(passages(options)).save(folder)
    ended = time.process_time()
    on_disk = sum(file.stat().st_size for file in folder.iterdir())
    return {
        "text_mb": round(n_bytes / 2**20, 1),
        "index_seconds": round((ended - made) - (made - began), 2),
        "index_mb": round(on_disk / 2**20, 1),
        "build_peak_mb": round(peak_mb() - before, 1),
    }


def answer(options: argparse.Namespace, folder: Path) -> dict[str, float]:
    """Map the index in a process without other data, and answer every query."""
    before = peak_mb()
    began = time.perf_counter()
    index = PassageIndex.load(folder)
    loaded = time.perf_counter()
    for query in queries(options):
        index.ranked(query, K)
    return {
        "load_seconds": round(loaded - began, 4),
        "answer_peak_mb": round(peak_mb() - before, 1),
    }


def compare(options: argparse.Namespace, folder: Path) -> dict[str, float]:
    """Ask this index and rank-bm25 the same queries in turn."""
    index = PassageIndex.load(folder)
    before = peak_mb()
    okapi = BM25Okapi([tokens(text) for text in passages(options)])
    theirs_mb = peak_mb() - before
    positions = list(range(options.passages))
    ours, theirs, same = [], [], []
    for query in queries(options):
        seconds, found = timed(partial(index.ranked, query, K))
        ours.append(seconds)
        seconds, _ = timed(partial(top_n, okapi, query, positions))
        theirs.append(seconds)
        scores = np.round(okapi.get_scores(tokens(query)), 6)
        best = np.argsort(-scores, kind="stable")[:K]
        expected = [(int(place), float(scores[place])) for place in best]
        same.append([(place, round(score, 6)) for place, score in found] == expected)
    return {
        "milliseconds_per_query": round(1000 * median(ours), 3),
        "rank_bm25_milliseconds_per_query": round(1000 * median(theirs), 1),
        "rank_bm25_peak_mb": round(theirs_mb, 1),
        "speedup_per_query": round(median(theirs) / median(ours), 1),
        "same_top10_share": sum(same) / len(same),
    }


def top_n(okapi: BM25Okapi, query: str, positions: list[int]) -> Any:
    return okapi.get_top_n(tokens(query), positions, K)


def timed(call: Callable[[], Any]) -> tuple[float, Any]:
    """Return the CPU seconds of a call, and its result."""
    began = time.process_time()
    found = call()
    return time.process_time() - began, found


PARTS = {"build": build, "answer": answer, "compare": compare}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--passages", type=int, default=100_000)
    parser.add_argument("--words", type=int, default=150, help="of a passage, on average")
    parser.add_argument("--queries", type=int, default=30)
    parser.add_argument("--json", action="store_true", help="one JSON object as the last line")
    parser.add_argument("--inside", nargs=2, metavar=("PART", "FOLDER"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    write = sys.stdout.write
    if options.inside:
        part, folder = options.inside
        write(json.dumps(PARTS[part](options, Path(folder))))
        return
    figures: dict[str, float] = {"passages": options.passages, "queries": options.queries}
    with tempfile.TemporaryDirectory() as place:
        for part in PARTS:
            command = [sys.executable, __file__, *sys.argv[1:], "--inside", part, place]
            done = subprocess.run(command, check=True, stdout=subprocess.PIPE)
            figures |= json.loads(done.stdout)
    for name, value in figures.items():
        write(f"{name:<36}{value:>12,}\n")
    if options.json:
        write(json.dumps(figures) + "\n")


if __name__ == "__main__":
    main()
