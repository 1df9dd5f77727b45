"""The ranking of passages by the words that they share with a query (BM25).

Scores equal those of rank-bm25's `BM25Okapi` to the last bit. A subclass counts its statistics
while it reads the passages once, its own `_calc_idf` weighs the words, and a query adds up the same
terms in the same order. Only the words of the query are looked up, in a sparse term–document
matrix. The matrix holds counts, so one index on disk serves any k1, b and idf rule.
"""

import math
from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from rank_bm25 import BM25Okapi  # type: ignore[import-untyped]
from scipy.sparse import csr_array

from generation.choices.declaration import Choice
from generation.text.tokens import TOKENISER, tokens

IdfRule = Literal["okapi-epsilon", "lucene"]
IDF_RULES: Mapping[IdfRule, str] = {
    "okapi-epsilon": "Okapi, with a floor for frequent words",
    "lucene": "Lucene, always positive",
}
DIGITS = 6  # decimal digits of scores that are compared; closer scores are ties
CLOSE = 10**-DIGITS


class Bm25(NamedTuple):
    """The choices of a ranking; the defaults are those of rank-bm25.

    `okapi-epsilon` weighs a word by log((N − n + ½) / (n + ½)). If that is negative, because the
    word is in more than half of the passages, the weight is a quarter of the mean of all words.
    `lucene` weighs it by log(1 + (N − n + ½) / (n + ½)), which is always positive, so that even
    among very few passages the matching one comes first.
    """

    idf: Annotated[IdfRule, Choice("Weight of words", IDF_RULES)] = "okapi-epsilon"
    k1: Annotated[float, Choice("k1", low=0, high=10)] = 1.5
    b: Annotated[float, Choice("b", low=0, high=1)] = 0.75

    @property
    def signature(self) -> str:
        """Every choice that changes a ranking, including the tokeniser."""
        return f"bm25|v:1|idf:{self.idf}|k1:{float(self.k1)}|b:{float(self.b)}|tokens:{TOKENISER}"


USUAL = Bm25()


class _Matrix(NamedTuple):
    """The counts of a collection, as arrays, so that each can be mapped from a file.

    The words are in the order of their bytes; `words` holds them one after the other.
    """

    words: NDArray[np.uint8]  # (n_bytes,)
    word_ends: NDArray[np.int64]  # (n_words + 1,): word i is words[word_ends[i]:word_ends[i + 1]]
    idf_okapi_epsilon: NDArray[np.float64]  # (n_words,)
    idf_lucene: NDArray[np.float64]  # (n_words,)
    starts: NDArray[np.int64]  # (n_words + 1,): starts of each word in the next two
    passages: NDArray[np.int32]  # (n_entries,): passages that hold the word, in order
    counts: NDArray[np.int32]  # (n_entries,): occurrences in that passage
    lengths: NDArray[np.int64]  # (n_passages,): in words


class PassageIndex:
    """BM25 over a fixed sequence of passages, which are identified by their positions in it."""

    def __init__(self, texts: Iterable[str], bm25: Bm25 = USUAL) -> None:
        """Count the words of each text. Each text is read once and not kept."""
        self._use(_Statistics(tokens(text) for text in texts).matrix(), bm25)

    @classmethod
    def load(cls, folder: Path, bm25: Bm25 = USUAL) -> Self:
        """Return the index that was saved in a folder; its files are mapped, not read.

        Raises:
            OSError: there is no such index.
        """
        index = cls.__new__(cls)
        mapped = (np.load(_file(folder, name), mmap_mode="r") for name in _Matrix._fields)
        index._use(_Matrix(*map(np.asarray, mapped)), bm25)  # still mapped, but slices cost less
        return index

    def save(self, folder: Path) -> None:
        """Write the index into an existing folder, one file for each array."""
        for name, part in self._matrix._asdict().items():
            np.save(_file(folder, name), part)

    def with_choices(self, bm25: Bm25) -> "PassageIndex":
        """Return an index of the same passages that ranks by other choices, without copying."""
        index = PassageIndex.__new__(PassageIndex)
        index._use(self._matrix, bm25)
        return index

    def __len__(self) -> int:
        """Return the number of passages."""
        return len(self._matrix.lengths)

    def knows(self, query: str) -> bool:
        """Return whether any passage shares a word with a query."""
        return any(self._place(word) is not None for word in tokens(query))

    def scores(self, query: str) -> NDArray[np.float64]:
        """Return the score of each passage, (n_passages,), equal to rank-bm25's `get_scores`.

        A word counts as often as it occurs in the query. With `okapi-epsilon`, scores may be
        negative if there are very few passages.
        """
        scores = np.zeros(len(self))
        for word in tokens(query):
            place = self._place(word)
            if place is None:
                continue
            entries = slice(self._matrix.starts[place], self._matrix.starts[place + 1])
            passages = self._matrix.passages[entries]
            counts = self._matrix.counts[entries].astype(float)
            # The operations are those of rank-bm25, one by one, so that scores are equal to the
            # last bit.
            weights = self._longness.take(passages)
            weights += counts
            np.divide(counts * (self.bm25.k1 + 1), weights, out=weights)
            weights *= self._idf[place]
            np.add.at(scores, passages, weights)
        return scores

    def ranked(self, query: str, k: int, without: Collection[int] = ()) -> list[tuple[int, float]]:
        """Return positions and scores of the `k` best passages, best first.

        They are sorted by score, rounded to 1e-6; ties are sorted by position. The result has `k`
        passages if there are so many, as in `get_top_n`: it is filled up with passages that share
        no word with the query.

        Args:
            without: positions to leave out.

        Raises:
            ValueError: `k` is negative.
        """
        if k < 0:
            raise ValueError(f"the {k} best passages; expected 0 or more")
        scores = self.scores(query)
        left_out = np.fromiter(set(without), np.intp)
        n = min(k, len(scores) - len(left_out))
        if n <= 0:
            return []
        ranking = scores.copy() if left_out.size else scores
        ranking[left_out] = -math.inf
        return [(int(place), float(scores[place])) for place in _best(ranking, n)]

    def _use(self, matrix: _Matrix, bm25: Bm25) -> None:
        self._matrix, self.bm25 = matrix, bm25
        okapi = bm25.idf == "okapi-epsilon"
        self._idf = matrix.idf_okapi_epsilon if okapi else matrix.idf_lucene
        n_words = int(matrix.lengths.sum())
        # Without any word there is no mean length to divide by, and nothing to find.
        mean = n_words / len(matrix.lengths) if n_words else 1.0
        self._longness = bm25.k1 * (1 - bm25.b + bm25.b * np.asarray(matrix.lengths) / mean)

    def _place(self, word: str) -> int | None:
        """Return the place of a word among all words; None if no passage has it."""
        ends, spelled = self._matrix.word_ends, self._matrix.words
        wanted = word.encode()

        def at(place: int) -> bytes:
            return spelled[ends[place] : ends[place + 1]].tobytes()

        n_words = len(ends) - 1
        place = bisect_left(range(n_words), wanted, key=at)
        return place if place < n_words and at(place) == wanted else None


class _Statistics(BM25Okapi):  # type: ignore[misc]
    """The statistics of rank-bm25, with its own weights, for a collection that is read once."""

    def _initialize(self, corpus: Iterable[list[str]]) -> Mapping[str, int]:
        """Count words into arrays as rank-bm25 does; return how many passages have each word."""
        self.numbers: dict[str, int] = {}  # word → number, by first appearance
        self.word_numbers, self.counts = array("i"), array("i")
        self.starts = array("q", [0])  # start of each passage in these
        lengths, n_passages = array("q"), array("q")
        for words in corpus:
            lengths.append(len(words))
            for word, count in Counter(words).items():
                number = self.numbers.setdefault(word, len(n_passages))
                if number == len(n_passages):
                    n_passages.append(0)
                n_passages[number] += 1
                self.word_numbers.append(number)
                self.counts.append(count)
            self.starts.append(len(self.counts))
        self.doc_len = lengths
        self.corpus_size = len(lengths)
        # The mean weight is a sum in the order of first appearance, which this mapping keeps.
        return dict(zip(self.numbers, n_passages, strict=True))

    def _calc_idf(self, nd: Mapping[str, int]) -> None:
        """Weigh each word by both rules."""
        n = self.corpus_size
        self.lucene = {
            word: math.log(1 + (n - n_with + 0.5) / (n_with + 0.5)) for word, n_with in nd.items()
        }
        if nd:  # rank-bm25 divides by the number of words
            super()._calc_idf(nd)

    def matrix(self) -> _Matrix:
        """Return the counts with a row for each word, in the order of the words' bytes."""
        words = sorted((word.encode(), word) for word in self.numbers)
        order = np.array([self.numbers[word] for _, word in words], np.intp)
        by_passage = csr_array(
            (_as(self.counts), _as(self.word_numbers), _as(self.starts)),
            shape=(self.corpus_size, len(words)),
        )
        by_word = by_passage.tocsc()
        del by_passage
        n_entries = np.diff(by_word.indptr)[order]
        starts = np.concatenate([[0], np.cumsum(n_entries)]).astype(np.int64)
        passages = np.empty(starts[-1], np.int32)
        counts = np.empty(starts[-1], np.int32)
        for place, number in enumerate(order):
            old = slice(by_word.indptr[number], by_word.indptr[number + 1])
            new = slice(starts[place], starts[place + 1])
            passages[new], counts[new] = by_word.indices[old], by_word.data[old]
        ends = np.cumsum([0, *(len(spelled) for spelled, _ in words)], dtype=np.int64)
        return _Matrix(
            words=np.frombuffer(b"".join(spelled for spelled, _ in words), np.uint8),
            word_ends=ends,
            idf_okapi_epsilon=np.array([self.idf[word] for _, word in words], float),
            idf_lucene=np.array([self.lucene[word] for _, word in words], float),
            starts=starts,
            passages=passages,
            counts=counts,
            lengths=_as(self.doc_len),
        )


def _best(scores: NDArray[np.float64], n: int) -> NDArray[np.intp]:
    """Return the positions of the `n` best of at least `n` scores; ties to 1e-6 by position."""
    worst = np.partition(scores, len(scores) - n)[len(scores) - n]
    candidates = np.flatnonzero(scores >= worst - CLOSE)
    if len(candidates) > 2 * n:  # mostly ties: keep the better ones, and the first ties
        rounded = np.round(scores[candidates], DIGITS)
        bar = np.round(worst, DIGITS)
        better, tied = np.flatnonzero(rounded > bar), np.flatnonzero(rounded == bar)
        candidates = candidates[np.sort(np.concatenate([better, tied[: n - len(better)]]))]
    order = np.argsort(-np.round(scores[candidates], DIGITS), kind="stable")
    return candidates[order][:n]


def _as(numbers: Any) -> NDArray[Any]:
    """Return an array of the standard library as a numpy array, without a copy."""
    return np.frombuffer(numbers, numbers.typecode) if numbers else np.empty(0, numbers.typecode)


def _file(folder: Path, name: str) -> Path:
    return folder / f"{name.replace('_', '-')}.npy"
