"""The identity of an import's rows: the key that must be unique, and a name for people."""

from datetime import UTC

from generation.importers.errors import excerpt
from generation.records import (
    AdjudicationRecord,
    CollectionPassageRecord,
    EntityRecord,
    ExampleRecord,
    FlagRecord,
    KGQuestionRecord,
    RankedPassageRecord,
    RaterRecord,
    Record,
    ResponseRecord,
    SampleRecord,
    ScoreRecord,
    VoteRecord,
)


def joined(*parts: object) -> str:
    """Return parts of a key as one; None is an empty part."""
    return "\0".join("" if part is None else str(part) for part in parts)


def key_of(row: Record) -> str:
    """Return the key of a row, which may occur only once in a dataset."""
    match row:
        case CollectionPassageRecord():
            return joined("passage", row.key)
        case ExampleRecord() | KGQuestionRecord():
            return joined("example", row.key)
        case ResponseRecord():
            return joined("response", row.key)
        case EntityRecord():
            return joined("entity", row.qid)
        case SampleRecord():
            return joined("sample", row.name)
        case RankedPassageRecord():
            return joined("ranked", *row[1:4])
        case RaterRecord():
            return joined("rater", row.rater)
        case VoteRecord():
            return joined("vote", row.arm, row.response, row.citation, row.question, row.rater)
        case FlagRecord():
            return joined("flag", row.arm, row.response, row.rater)
        case AdjudicationRecord():
            at = row.at.astimezone(UTC)
            return joined("adjudication", row.response, row.citation, row.question, row.by, at)
        case ScoreRecord():
            return joined("score", row.response, row.citation, row.metric, row.signature)


def name_of(row: Record) -> str:
    """Return a row's identity in words for people."""
    match row:
        case CollectionPassageRecord():
            return f"passage {excerpt(row.key)}"
        case ExampleRecord() | KGQuestionRecord():
            return f"example {excerpt(row.key)}"
        case ResponseRecord():
            return f"response {excerpt(row.key)}"
        case EntityRecord():
            return f"entity {excerpt(row.qid)}"
        case SampleRecord():
            return f"sample {excerpt(row.name)}"
        case RankedPassageRecord():
            return f"passage {excerpt(row.passage)} of example {excerpt(row.example)}"
        case RaterRecord():
            return f"rater {excerpt(row.rater)}"
        case VoteRecord():
            response = excerpt(row.response) if row.item is None else row.item
            of = f"on {row.question} of response {response}"
            return f"vote of {excerpt(row.rater)} {of}"
        case FlagRecord():
            return f"flag of {excerpt(row.rater)} on response {excerpt(row.response)}"
        case AdjudicationRecord():
            of = f"on {row.question} of response {excerpt(row.response)}"
            return f"decision of {excerpt(row.by)} {of} at {row.at.isoformat()}"
        case ScoreRecord():
            return f"{row.metric} score of response {excerpt(row.response)}"
