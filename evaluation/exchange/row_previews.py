"""The first rows of an import, as columns in which a person can check that all is in its place."""

from collections import Counter

from generation.records import (
    AdjudicationRecord,
    CollectionPassageRecord,
    EntityRecord,
    ExampleRecord,
    KGQuestionRecord,
    Record,
    ResponseRecord,
    SampleRecord,
    VoteRecord,
)
from work.amounts import UNDEFINED

LONGEST_PREVIEW = 120  # characters of a cell


def preview(record: Record) -> dict[str, str]:
    """Return a record as columns in which a person can check that everything is in its place."""
    columns: dict[str, object] = {"line": f"{record.where.line:,}"}
    match record:
        case CollectionPassageRecord():
            columns |= {"id": record.key, "title": record.title or None, "text": record.text}
        case ExampleRecord():
            golden = [passage for passage in record.evidence if passage.is_golden]
            columns |= {
                "id": record.key,
                "turns": len(record.turns),
                "last user question": record.turns[-1].text if record.turns else None,
                "golden answer": record.golden_answer,
                "golden passage": golden[0].title or golden[0].text if golden else None,
            }
        case ResponseRecord():
            columns |= {
                "id": record.key,
                "example": record.example,
                "setup": record.setup.name,
                "text": record.text,
            }
        case VoteRecord():
            columns |= {
                "response": record.response,
                "rater": record.rater,
                "question": record.question,
                "answer": record.answer,
                "arm": record.arm,
            }
        case AdjudicationRecord():
            columns |= {
                "response": record.response,
                "question": record.question,
                "answer": record.answer or "cannot be decided",
                "note": record.note,
                "by": record.by,
            }
        case EntityRecord():
            first = record.triples[0] if record.triples else None
            columns |= {
                "qid": record.qid,
                "label": record.label,
                "type": record.type or None,
                "triples": len(record.triples),
                "first triple": f"{first.relation}: {first.value}" if first else None,
            }
        case KGQuestionRecord():
            columns |= {
                "id": record.key,
                "question": record.question,
                "gold entities": len(record.entities) or None,
                "minimum set": _minimum(record),
            }
        case SampleRecord():
            verdicts = Counter(member.verdict for member in record.members)
            columns |= {
                "sample": record.name,
                "seed": record.parameters.get("seed"),
                "examples": len(record.members),
                "kept": verdicts["keep"],
                "dropped": verdicts["drop"],
            }
        case _:
            names = ("qid", "label", "id", "key", "question", "rater", "response", "metric")
            more = ("score", "reason", "ranking", "example", "passage", "rank")
            values = {name: getattr(record, name, None) for name in (*names, *more)}
            columns |= {name: value for name, value in values.items() if value is not None}
    return {
        name: UNDEFINED if value is None else _shortened(str(value))
        for name, value in columns.items()
    }


def _minimum(record: KGQuestionRecord) -> str | int | None:
    """Return how many members a question's minimum set has; None when it is not known."""
    if record.minimum is None:
        return None
    n = len(record.minimum)
    return f"{n}, made up" if record.is_minimum_made_up else n


def _shortened(text: str) -> str:
    """Return the beginning of a text on one line, even if the text has no blanks."""
    line = " ".join(text[: 10 * LONGEST_PREVIEW].split())
    return line if len(line) <= LONGEST_PREVIEW else f"{line[: LONGEST_PREVIEW - 2]} …"
