"""Traces of a program that calls models: which parts are responses, and the rows of these."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Any, NamedTuple

from generation.importers.fields import Row
from generation.importers.mapped.readers.payloads import answer_in, documents_in, question_in
from generation.records import Where

OF_A_PART = "scores of something in a trace that is no response"
SILENT = "traces without a question and an answer"
NO_TEXT = "retrieved documents without a text"
OF_VOTES = ("criterion", "vote", "rater", "score_id")  # columns of votes


class TracePart(NamedTuple):
    """A trace's own row, or a call in it. Input and output are texts or JSON."""

    where: Where
    key: str
    input: str
    output: str
    model: str
    meta: dict[str, str]

    @property
    def is_complete(self) -> bool:
        return bool(question_in(self.input) and answer_in(self.output))


class Score(NamedTuple):
    """A score. If an annotator gave it, it is a vote."""

    key: str
    part: str  # id of the part; "": the trace as a whole
    name: Any
    value: Any
    is_vote: bool
    rater: str | None


class Trace:
    """The known facts about one trace, with its parts by id.

    A trace is one response: its own row if that has a question and an answer, else its only call
    without a parent, else its only generation. If none of these is the only one, each generation is
    a response. A generation that a score names is always a response, unless it says the same as the
    trace.
    """

    def __init__(self) -> None:
        self.session = ""
        self.own: dict[str, TracePart] = {}
        self.roots: dict[str, TracePart] = {}
        self.generations: dict[str, TracePart] = {}
        self.retrievers: dict[str, TracePart] = {}
        self.scores: list[Score] = []

    @property
    def groups(self) -> tuple[dict[str, TracePart], ...]:
        """All its parts, in groups that may share some."""
        return self.own, self.roots, self.generations, self.retrievers

    def responses(self) -> tuple[list[TracePart], dict[str, str]]:
        """Return the responses, and a map from names in scores to the id of the response they mean.

        The map is for the trace as a whole. Scores name it by "", or by a part that says the same.
        """
        own, roots, generations = (
            [part for part in parts.values() if part.is_complete]
            for parts in (self.own, self.roots, self.generations)
        )
        whole = next((tier[0] for tier in (own, roots, generations) if len(tier) == 1), None)
        if whole is None:
            return generations, {}
        said = (whole.input, whole.output)
        same = {each.key for each in (*roots, *generations) if (each.input, each.output) == said}
        named = {score.part for score in self.scores} - same
        others = [part for part in generations if part.key in named]
        return [whole, *others], dict.fromkeys(("", *same), whole.key)

    def rows(self, key: str, left_out: Counter[str]) -> Iterator[Row]:
        """Yield a row for each vote on a response, or one row if it has no vote.

        Data that are left out are counted.
        """
        responses, meant = self.responses()
        found = [documents_in(part.output) for part in self.retrievers.values()]
        models = dict.fromkeys(part.model for part in self.generations.values() if part.model)
        scores: dict[str, list[Score]] = defaultdict(list)
        for score in self.scores:
            scores[meant.get(score.part, score.part)].append(score)
        left_out[NO_TEXT] += sum(n_without for _, n_without in found)
        left_out[SILENT] += not responses
        left_out[OF_A_PART] += len(self.scores) - sum(len(scores[each.key]) for each in responses)
        for part in responses:
            about = {
                "id": part.key,
                "trace": key,
                "session": self.session or None,
                "input": question_in(part.input),
                "output": answer_in(part.output),
                "documents": [document for documents, _ in found for document in documents],
                "model": part.model or " + ".join(models) or None,
                "scores": [
                    {"name": each.name, "score": each.value}
                    for each in scores[part.key]
                    if not each.is_vote
                ],
                **part.meta,
            }
            votes: list[tuple[Any, ...]] = [
                (each.name, each.value, each.rater, each.key)
                for each in scores[part.key]
                if each.is_vote
            ]
            for vote in votes or [(None,) * len(OF_VOTES)]:
                yield Row(part.where, {**about, **dict(zip(OF_VOTES, vote, strict=True))})
