"""The noes that an import's votes imply: the same rater closed a gate, and was not asked further.

Most tools leave the cell behind a closed gate empty, or write no row for it. The rule is that of
raters' own forms (`annotation.voting`). Where a rater said yes to the gate or did not answer it, an
answer that is missing stays missing.
"""

from collections.abc import Iterable, Iterator

from annotation.schemes import Scheme
from annotation.voting import NO, closed_by
from evaluation.exchange.import_plan import ImportPlan
from generation.records import VoteRecord


class ImpliedNoes:
    """The noes that a vote implies by a scheme; none if the import leaves them out."""

    def __init__(self, scheme: Scheme, *, are_left_out: bool) -> None:
        gates = {} if are_left_out else {gate for q in scheme.questions for gate in q.after}
        self._scales = {q.key: q.scale for q in scheme.questions if q.key in gates}
        self._no = {
            gate: [key for key, is_implied in closed_by(scheme, gate, NO).items() if is_implied]
            for gate in self._scales
        }

    def __bool__(self) -> bool:
        return any(self._no.values())

    def are_implied_by(self, vote: VoteRecord) -> bool:
        """Return whether a vote closes a gate before a yes/no question."""
        gate = vote.question
        return bool(self._no.get(gate)) and self._scales[gate].answer(vote.answer) == NO

    def of(self, votes: Iterable[VoteRecord]) -> Iterator[VoteRecord]:
        """Yield the noes that these votes imply, at the place and time of the vote itself."""
        for vote in votes:
            if self.are_implied_by(vote):
                for question in self._no[vote.question]:
                    yield vote._replace(
                        question=question, answer="no", is_implied=True, source_id=""
                    )


def implied_noes(plan: ImportPlan, *, without_implied: bool) -> ImpliedNoes:
    """Return the noes that an import implies.

    They are left out if the person who imports, the file or an earlier import into the study has
    said so.
    """
    return ImpliedNoes(plan.scheme, are_left_out=without_implied or plan.is_without_implied)
