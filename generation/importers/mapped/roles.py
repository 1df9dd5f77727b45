"""The roles of a table's columns. Each is declared here; pages, files and docs show them."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple


class ColumnRole(NamedTuple):
    """The role of a column.

    Attributes:
        title: its name on pages.
        holds: the content of its cells.
        names: the possible names of such a column, as `plain_name` spells them. The first one
            that is there counts.
        endings: words that may follow such a name.
        is_many: whether several columns may have the role together. Of several columns with any
            other role, the first one counts that is not empty.
        without: what a table lacks that has no such column, and what that costs. "": nothing.
    """

    title: str
    holds: str
    names: tuple[str, ...] = ()
    is_many: bool = False
    without: str = ""
    endings: tuple[str, ...] = ()

    def possible_names(self) -> Iterator[str]:
        """Yield each name, alone and with each ending."""
        for name in self.names:
            yield name
            yield from (f"{name}_{ending}" for ending in self.endings)


# Names of people who rate. Others may be people who ask or models that judge: they are raters where
# a response has several of them.
RATERS = (
    *("rater", "annotator", "worker", "coder", "labeler", "labeller", "assessor", "evaluator"),
    *("reviewer", "completed_by", "annotated_by", "labeled_by", "labelled_by", "rated_by"),
)
PERHAPS_RATERS = ("judge", "participant", "expert", "user", "username", "email", "e_mail")

# Names of what may be a setup: it is one where it parts the responses to one question.
PERHAPS_SETUPS = ("system", "method", "llm", "generator", "approach", "pipeline")
# Names of what may be an example: it is one where each value has one question.
PERHAPS_EXAMPLES = (
    *("item_id", "item", "hit_id", "hitid", "task_id", "unit_id", "instance_id", "sample_id"),
    "doc_id",
)

ROLES: Mapping[str, ColumnRole] = {
    "question": ColumnRole(
        "Question",
        "the user's question: a text, or a list of messages with `role` (or `type`) and `content`",
        ("question", "user_input", "user_question", "query", "input", "prompt"),
    ),
    "history": ColumnRole(
        "Earlier turns",
        "the turns before the question: messages, or texts in turn, of which the last is the "
        "assistant's",
        ("history", "chat_history", "dialogue_history", "conversation_history"),
    ),
    "messages": ColumnRole(
        "Messages",
        "a list of messages, of which the last is the response",
        ("messages", "conversation_messages"),
    ),
    "response": ColumnRole(
        "Response",
        "a response. If there are several such columns, each is a setup with the name of its "
        "column",
        ("response", "answer", "generated_answer", "actual_output", "output", "completion"),
        is_many=True,
    ),
    "response_id": ColumnRole(
        "Response id",
        "the id of the response. Without it, the id is made from its example and setup",
        ("response_id", "answer_id"),
    ),
    "example": ColumnRole(
        "Example id",
        "the id of the example that is answered. Without it, rows with the same question (and "
        "dialog) are one example",
        ("example", "example_id", "question_id", "query_id", "qid"),
    ),
    "dialog": ColumnRole(
        "Dialog",
        "the dialog that the question is from",
        ("dialog", "dialog_id", "conversation", "conversation_id", "session_id", "thread_id"),
        without="No dialog column: intervals treat each example as a dialog of its own.",
    ),
    "setup": ColumnRole(
        "Setup",
        "the setup that answered. Without it, all responses belong to the setup `answers`",
        ("setup", "model", "model_name", "system_name"),
        without="No setup column: all responses belong to one setup.",
    ),
    "shown": ColumnRole(
        "Evidence shown",
        "evidence that was shown: a text, a list of texts, or of objects with `text` and `title`?",
        ("retrieved_contexts", "contexts", "context", "retrieval_context", "evidence"),
        is_many=True,
        without="No evidence column: raters can rate SSA, but not AIS.",
    ),
    "golden": ColumnRole(
        "Golden evidence",
        "golden evidence: a text, a list of texts, or of objects with `text` and `title`?",
        ("reference_contexts", "golden_contexts", "golden_evidence"),
        is_many=True,
        without="No golden evidence: recall of retrieval is not defined.",
    ),
    "golden_answer": ColumnRole(
        "Golden answer",
        "the golden answer. If it is a list, the first one counts",
        ("golden_answer", "reference", "ground_truth", "ground_truths", "expected_output"),
        without="No golden answer: metrics that compare with one are not defined.",
    ),
    "score": ColumnRole(
        "Score",
        "a number that a metric gave the response. The metric has the name of its column",
        is_many=True,
    ),
    "scores": ColumnRole(
        "Scores",
        "several scores: an object of numbers, or a list of objects with `name` and `score`",
        is_many=True,
    ),
    "vote": ColumnRole(
        "Vote",
        "a rater's answer. Its question has the name of its column, or is named in the next column",
        is_many=True,
    ),
    "rater_votes": ColumnRole(
        "Votes of one rater",
        "the answers of one rater, who has the name of the column. Several such columns are "
        "several raters",
        is_many=True,
    ),
    "asked": ColumnRole(
        "Vote's question",
        "which question the vote of this row answers",
        ("criterion", "annotation_question"),
    ),
    "rater": ColumnRole(
        "Rater",
        "the rater who voted. Without it, all votes belong to one nominal rater, `published`",
        (*RATERS, *PERHAPS_RATERS),
        endings=("id", "name", "code", "email"),
    ),
    "vote_id": ColumnRole(
        "Vote id",
        "the id of the vote (or votes) of the row in their source. It is kept in exports",
        ("vote_id", "annotation_id"),
    ),
    "seconds": ColumnRole(
        "Seconds",
        "the seconds that the rater took for the row, 0 or more. Each vote of the row has all of "
        "them",
        ("rating_seconds", "lead_time"),
    ),
    "at": ColumnRole(
        "Time of the vote",
        "when the rater voted: a date and time in ISO 8601 (without a zone: UTC), or Unix seconds",
        ("voted_at", "rated_at", "annotated_at"),
    ),
}
MOST_NAMED = 5  # columns in a message
OF_A_TEXT = ("text", "content", "parts", "value", "message", "choices", "candidates", "body")
OBJECTS = ("input", "inputs", "output", "outputs", "request", "response", "row", "data", "example")
OF_REFERENCES = ("reference_outputs", "expected_outputs")
OF_RATINGS = {"votes", "ratings", "labels", "annotations", "judgements", "judgments", "verdicts"}
# The last words of usual names of votes, and of remarks about them.
NAMES_OF_VOTES = {"label", "rating", "vote", "verdict", "annotation", "judgement", "judgment"}
NAMES_OF_VOTES |= {"faithful", "supported", "attributable", "correct", "human_score", "grade"}
REMARKS = {"comment", "comments", "note", "notes", "remark", "remarks", "reason", "reasons"}
REMARKS |= {"explanation", "rationale", "feedback", "justification", "kommentar", "bemerkung"}
ENTRY = "[]"  # after the name of a column of lists: one of their entries
NEEDED = ("question", "response")  # needed in a table that is recognised by column names
# The roles that may hold responses.
HOLD_RESPONSES = ("response", "messages")
# The roles that may hold messages, and those that hold one text.
OF_MESSAGES = ("messages", "question", "history")
OF_TEXTS = ("question", "response", "golden_answer")
# The roles that hold votes.
HOLD_VOTES = ("vote", "rater_votes")
# The roles whose cells name something or say when it was.
NAMES = ("response_id", "example", "dialog", "setup", "rater", "vote_id", "seconds", "at")
# The roles that an entry in a list of votes may have by its name.
OF_A_VOTE = ("asked", "rater", "vote_id", "seconds", "at")
# Both together mean a table of votes: an answer is then a rater's, and a response is an id.
OF_VOTES = {"response", "answer"}


def expected_columns() -> str:
    """Return the possible names of the columns of such a table."""
    question, response = (" or ".join(ROLES[needed].names[:3]) for needed in NEEDED)
    return f"a table with a column {question} and a column {response}"


def plain_name(column: str) -> str:
    """Return a name in lower case, with `_` between words: `WorkerId` becomes `worker_id`.

    An entry of a list is called as it is alone: `ratings[].score` is a score, `raters[]` a rater.
    """
    if ENTRY in column:
        of_list, _, field = column.rpartition(ENTRY)
        column = field.removeprefix(".") or of_list.removesuffix("s")
    parted = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", column)
    return re.sub(r"[\W_]+", "_", parted.lower()).strip("_")


def is_named_as_votes(column: str) -> bool:
    """Return whether a column has a usual name of votes."""
    name = plain_name(column)
    return bool({name, name.rpartition("_")[2]} & NAMES_OF_VOTES)


def question_in(column: str) -> str:
    """Return the question that the name of a column of votes says."""
    of_list, is_entry, field = column.rpartition(ENTRY)
    return field.removeprefix(".") or of_list if is_entry else column


def named_columns(columns: Sequence[str]) -> str:
    """Return the names of columns in one text; the first ones where there are many."""
    more = len(columns) - MOST_NAMED
    named = [*columns[:MOST_NAMED], *([f"{more:,} more"] if more > 0 else [])]
    return " and ".join(filter(None, (", ".join(named[:-1]), named[-1])))


def is_of_rows(column: str) -> bool:
    """Return whether a column only numbers rows, by the name that pandas writes."""
    return column in ("", "index") or column.startswith("Unnamed: ")


def is_of_ratings(column: str) -> bool:
    """Return whether an object of this name has a field for each rater or criterion."""
    return plain_name(column).rpartition("_")[2] in OF_RATINGS


def name_inside(column: str) -> str:
    """Return the name that tells what a field inside an object is.

    `answer.text`, `outputs.answer` and `response.body.choices` are an answer or a response.
    """
    first, *names = (plain_name(name) for name in column.split("."))
    while names and names[-1] in OF_A_TEXT:
        names.pop()
    if first in OF_REFERENCES:
        return "reference"
    if names and (first not in OBJECTS or names[-1] == "messages"):
        return plain_name(column)
    return names[-1] if names else first


def roles_by_name(columns: Collection[str]) -> dict[str, str]:
    """Return column → role of those columns whose names tell it. A table of votes has none."""
    there: dict[str, str] = {}
    entries = {plain_name(column): column for column in columns if ENTRY in column}
    columns = [column for column in columns if ENTRY not in column]
    for column in columns:
        there.setdefault(plain_name(column), column)
    if there.keys() >= OF_VOTES:
        return {}
    for column in columns:
        there.setdefault(name_inside(column), column)
    found: dict[str, str] = {}
    for key, role in ROLES.items():
        among = entries | there if key in OF_A_VOTE else there
        name = next((name for name in role.possible_names() if name in among), None)
        if name is not None:
            found[among[name]] = key
    return found
