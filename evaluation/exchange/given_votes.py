"""The votes of an import that say something, by the scales of their questions."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from annotation.schemes import Scheme
from generation.importers.cell_meanings import is_missing, without
from generation.importers.errors import DatasetError, excerpt
from generation.importers.mapped.proposal import Look
from generation.importers.mapped.roles import HOLD_VOTES
from generation.records import Problem, Record, VoteRecord

SPELLED = "votes whose label is spelled otherwise (accents, blanks or capitals), taken as the label"
MOST_WORDS = 5  # words that a message names


class UndecidedWords(DatasetError):
    """A question has labels and words that often mean nothing: are those labels as well?

    Attributes:
        look: the table, with the words among the answers of its column. None: it is no table.
    """

    def __init__(self, look: Look | None, question: str, words: Mapping[str, int]) -> None:
        said = ", ".join(f"{excerpt(word)} ({n:,})" for word, n in list(words.items())[:MOST_WORDS])
        columns = _columns_of(look, question) if look else []
        word = excerpt(next(iter(words)))
        if columns:
            expected = (
                f"a mapping that says whether these are labels. If they are no votes, write "
                f"missing = [{', '.join(map(excerpt, words))}]. If one is a label, write "
                f"{word} = {word} under [values.{excerpt(columns[0])}]"
            )
        else:
            expected = "empty cells if these are no votes, or a scheme.json that has them as labels"
        super().__init__(f"votes, {excerpt(question)}", f"labels, and {said}", expected)
        self.look = look and look._replace(
            columns=tuple(
                each._replace(answers=tuple(dict.fromkeys((*each.answers, *words))))
                if each.name in columns
                else each
                for each in look.columns
            )
        )


class GivenVotes:
    """The votes that say something. What the others say is counted in `notes`."""

    def __init__(self, scheme: Scheme) -> None:
        self._scales = {question.key: question.scale for question in scheme.questions}
        self.notes: Counter[str] = Counter()

    def among(self, records: Iterable[Record | Problem]) -> Iterator[Record | Problem]:
        """Yield all records but those of votes whose cells say that there is none."""
        for record in records:
            if isinstance(record, VoteRecord):
                scale = self._scales.get(record.question)
                answer = scale.answer(record.answer) if scale else None
                if answer is None and not record.is_told and is_missing(record.answer):
                    self.notes[without("vote", record.answer)] += 1
                    continue
                if scale and answer is not None and scale.kind == "nominal":
                    self.notes[SPELLED] += record.answer.strip() != scale.label(answer)
            yield record


def _columns_of(look: Look, question: str) -> list[str]:
    """Return the columns that have the votes on a question."""
    columns = [column for role in HOLD_VOTES for column in look.mapping.of(role)]
    return [c for c in columns if look.mapping.name_of(c) == question] or columns
