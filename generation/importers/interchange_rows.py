"""Functions that make a record of one row of each interchange file.

For convenience, nested cells of CSV hold JSON. A `turns` cell that is no JSON list is one user
turn, an `evidence` cell that is no JSON list is one golden passage, and a `setup` cell that is no
JSON object is a name. `turns: null` means that the dialog is not known (published ratings without
one).
"""

import hashlib
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from generation.importers.cell_meanings import score_in
from generation.importers.errors import excerpt
from generation.importers.fields import LARGEST_COUNT, NOTHING, Row, RowKind
from generation.importers.json_text import JSONTrouble, parse_row
from generation.importers.setups import read_setup
from generation.limits import LARGEST_INTEGER, LONGEST_NAME
from generation.records import (
    AdjudicationRecord,
    CollectionPassageRecord,
    EntityRecord,
    EntityTriple,
    ExampleRecord,
    FlagRecord,
    KGQuestionRecord,
    MinimumTripleRecord,
    PassageRecord,
    RankedPassageRecord,
    RaterRecord,
    ResponseRecord,
    SampledRecord,
    SampleRecord,
    ScoreRecord,
    TripleText,
    TurnRecord,
    VoteRecord,
)

ARMS = ("separate", "separate_2", "merged")
LONGEST_QUESTION = 64
LONGEST_LABEL = 500
LONGEST_RELATION = 300
MOST_MEMBERS = 100_000  # members of one sample
_LOOKS_LIKE_OBJECTS = re.compile(r"\[\s*\{")


def passage_key(title: str, text: str) -> str:
    """Return the key of a passage without an id. It is made from its title and text."""
    return "sha:" + hashlib.sha256(f"{title}\n{text}".encode()).hexdigest()[:16]


def read_example(row: Row) -> ExampleRecord:
    key = row.key("id")
    return ExampleRecord(
        where=row.where,
        key=key,
        dialog=row.key("dialog", key),
        turns=_turns(row),
        golden_answer=row.optional_text("golden_answer"),
        evidence=_evidence(row),
        meta=row.optional_object("meta") | row.unknown(EXAMPLES.fields),
    )


def read_passage(row: Row) -> CollectionPassageRecord:
    return CollectionPassageRecord(
        where=row.where,
        key=row.key("id"),
        text=row.filled_text("text"),
        title=row.text("title", ""),
        url=row.text("url", ""),
    )


def read_response(row: Row) -> ResponseRecord:
    return ResponseRecord(
        where=row.where,
        key=row.key("id"),
        example=row.key("example"),
        setup=read_setup(row),
        text=row.text("text"),
        evidence_shown=_shown(row),
        graph_shown=_optional_triples(row, "graph_shown"),
        removed=_optional_triples(row, "removed"),
        meta=row.optional_object("meta") | row.unknown(RESPONSES.fields),
        chosen_from=row.key("chosen_from", ""),
    )


def read_vote(row: Row) -> VoteRecord:
    return VoteRecord(
        row.where,
        row.key("response"),
        row.key("rater", longest=LONGEST_NAME),
        row.key("question", longest=LONGEST_QUESTION),
        "" if row.is_empty("answer") else row.word("answer"),
        row.choice("arm", ARMS, "separate"),
        row.ordinal_number("citation"),
        row.ordinal_number("position"),
        row.duration("seconds"),
        row.moment("at"),
        row.yes_no("implied"),
        row.key("source_id", ""),
    )


def read_score(row: Row) -> ScoreRecord:
    problem = row.text("problem", "")
    found = score_in(row.values.get("score"))
    if problem and found.score is not None:
        row.refuse("problem", problem[:80], "no problem, because the row has a score")
    if not problem and found.is_empty:
        row.refuse("score", NOTHING, "a number")
    return ScoreRecord(
        where=row.where,
        response=row.key("response"),
        metric=row.key("metric", longest=LONGEST_NAME),
        score=found.score,
        citation=row.ordinal_number("citation"),
        signature=row.text("signature", "", LONGEST_LABEL),
        is_assumed=row.yes_no("assumed"),
        problem=problem or found.problem,
        n_truncated=row.whole("truncated", 0, LARGEST_COUNT) or 0,
        details=row.optional_object("details"),
    )


def read_flag(row: Row) -> FlagRecord:
    return FlagRecord(
        where=row.where,
        response=row.key("response"),
        rater=row.key("rater", longest=LONGEST_NAME),
        arm=row.choice("arm", ARMS, "separate"),
        reason=row.text("reason", ""),
    )


def read_adjudication(row: Row) -> AdjudicationRecord:
    """Read a decision. It needs its time, because the newest decision counts."""
    at = row.moment("at")
    if at is None and row.values.get("at") is None:
        row.refuse("at", NOTHING, "a date and time in ISO 8601, because the newest decision counts")
    return AdjudicationRecord(
        where=row.where,
        response=row.key("response"),
        question=row.key("question", longest=LONGEST_QUESTION),
        answer="" if row.values.get("answer") in (None, "") else row.word("answer"),
        note=row.filled_text("note"),
        by=row.key("by", longest=LONGEST_NAME),
        at=at or datetime.now(UTC),
        citation=row.ordinal_number("citation"),
    )


def read_rater(row: Row) -> RaterRecord:
    is_excluded, reason = row.optional_yes_no("excluded"), row.optional_text("excluded_reason")
    if reason and not is_excluded:
        expected = "nothing, because the row does not say that the rater is excluded"
        row.refuse("excluded_reason", excerpt(reason), expected)
    return RaterRecord(
        where=row.where,
        rater=row.key("rater", longest=LONGEST_NAME),
        is_excluded=is_excluded,
        gold_score=row.share("gold_score"),
        is_simulated=row.optional_yes_no("simulated"),
        excluded_reason=reason if is_excluded is not False else "",
    )


def read_entity(row: Row) -> EntityRecord:
    triples = row.required_list("triples", "objects")
    return EntityRecord(
        where=row.where,
        qid=row.key("qid", longest=LONGEST_NAME),
        label=row.filled_text("label", LONGEST_LABEL),
        type=row.text("type", "", 200),
        aliases=row.keys("aliases", row.optional_list("aliases", "texts") or [], LONGEST_LABEL),
        text=row.text("text", ""),
        triples=tuple(
            EntityTriple(
                relation=triple.key("relation", longest=LONGEST_RELATION),
                value=_value(triple, "value"),
                value_qid=triple.key("value_qid", "", LONGEST_NAME),
            )
            for triple in row.objects("triples", triples)
        ),
    )


def read_kg_question(row: Row) -> KGQuestionRecord:
    minimum = row.optional_list("minimum", "[qid, relation, value, round?]")
    retrieved = row.optional_list("retrieved", "qids")
    is_made_up = row.yes_no("minimum_made_up")
    if is_made_up and minimum is None:
        row.refuse("minimum_made_up", "true", "false, because the row has no minimum")
    return KGQuestionRecord(
        where=row.where,
        key=row.key("id"),
        question=row.filled_text("question"),
        entities=row.keys("entities", row.required_list("entities", "qids"), LONGEST_NAME),
        retrieved=None if retrieved is None else row.keys("retrieved", retrieved, LONGEST_NAME),
        minimum=None if minimum is None else _minimum(row, minimum),
        is_minimum_made_up=is_made_up,
        is_ad_hoc=row.yes_no("ad_hoc"),
    )


def read_sample(row: Row) -> SampleRecord:
    cascade, members = row.optional_object("cascade"), _members(row)
    parameters = row.optional_object("parameters")
    if not parameters and not row.problems:
        row.refuse("parameters", NOTHING, "an object: filters, part, size and seeds of the draw")
    n_examples = row.whole("n_examples", len(members), LARGEST_INTEGER)
    return SampleRecord(
        where=row.where,
        name=row.key("name", longest=LONGEST_NAME),
        parameters=parameters,
        cascade=cascade,
        n_examples=len(members) if n_examples is None else n_examples,
        members=members,
    )


def read_ranked_passage(row: Row) -> RankedPassageRecord:
    ranking = row.key("ranking", longest=LONGEST_NAME)
    example, passage = row.key("example"), row.key("passage")
    rank = row.whole("rank", 1, LARGEST_INTEGER)
    if rank is None and not row.problems:
        row.refuse("rank", NOTHING, "a whole number from 1")
    return RankedPassageRecord(row.where, ranking, example, passage, rank or 1)


def _members(row: Row) -> tuple[SampledRecord, ...]:
    """Return the members of a sample. Each example may occur once, and a drop needs a reason."""
    members: list[SampledRecord] = []
    examples: set[str] = set()
    for item in row.objects("members", row.required_list("members", "objects", MOST_MEMBERS)):
        example = item.key("example")
        if example in examples:
            item.refuse("example", f"{excerpt(example)} again", "each example once in a sample")
        examples.add(example)
        verdict = item.choice("verdict", ("keep", "drop"), "")
        reason = item.text("reason", "").strip()
        if verdict == "drop" and not reason:
            item.refuse("reason", NOTHING, "the reason why the example is dropped")
        if verdict != "drop" and reason:
            item.refuse(
                "reason", excerpt(reason), "no reason, because only a dropped example has one"
            )
        members.append(SampledRecord(example, verdict, reason, item.moment("at")))
    return tuple(members)


def _turns(row: Row) -> tuple[TurnRecord, ...]:
    found = _list_or_text(row, "turns")
    if isinstance(found, str):
        return (TurnRecord("user", found, -1),)
    if found is None:
        if "turns" not in row.values:
            row.refuse("turns", NOTHING, "a list of turns, or null if the dialog is not known")
        return ()
    turns = [
        TurnRecord(_speaker(turn), turn.text("text"), _parent(turn, index))
        for index, turn in enumerate(row.objects("turns", found))
    ]
    if not found:
        row.refuse("turns", "an empty list", "one turn or more, of which the last is the user's")
    elif turns and not row.problems and (turns[-1].speaker != "user" or not turns[-1].text.strip()):
        speaker, text, _ = turns[-1]
        row.refuse(
            f"turns[{len(turns)}]", excerpt({"speaker": speaker, "text": text}), "a user's question"
        )
    return tuple(turns)


def _speaker(turn: Row) -> str:
    speaker = turn.key("speaker", longest=LONGEST_NAME)
    return "user" if speaker.lower() == "user" else speaker


def _parent(turn: Row, index: int) -> int:
    parent = turn.whole("parent", -1, index - 1)
    return index - 1 if parent is None else parent


def _evidence(row: Row) -> tuple[PassageRecord, ...]:
    found = _list_or_text(row, "evidence")
    if isinstance(found, str):
        return (PassageRecord(passage_key("", found), found, "", "", True),)
    passages: list[PassageRecord] = []
    keys: set[str] = set()
    for item in row.objects("evidence", found or []):
        title, text = item.text("title", ""), item.filled_text("text")
        key = item.key("id", passage_key(title, text))
        if key in keys:
            item.refuse("id", f"{excerpt(key)} again", "each passage once in an example")
        keys.add(key)
        url = item.text("url", "")
        passages.append(PassageRecord(key, text, title, url, item.yes_no("golden")))
    return tuple(passages)


def _list_or_text(row: Row, name: str) -> list[Any] | str | None:
    """Return a list. A CSV cell that is no JSON list is returned as plain text."""
    value = row.values.get(name)
    if row.is_csv and isinstance(value, str) and not _LOOKS_LIKE_OBJECTS.match(value.lstrip()):
        try:
            parsed = parse_row(value, row.max_nesting)
        except JSONTrouble:
            return value
        return parsed if parsed is None or isinstance(parsed, list) else value
    return row.optional_list(name, "objects")


def _shown(row: Row) -> tuple[str, ...] | None:
    items = row.optional_list("evidence_shown", "ids")
    if items is None:
        return None
    return row.keys("evidence_shown", items)


def _optional_triples(row: Row, name: str) -> tuple[TripleText, ...] | None:
    items = row.optional_list(name, "[qid, relation, value]")
    if items is None:
        return None
    return tuple(
        (
            triple.key("qid"),
            triple.key("relation", longest=LONGEST_RELATION),
            _value(triple, "value"),
        )
        for triple in _listed_rows(row, name, items, ("qid", "relation", "value"), 3)
    )


def _minimum(row: Row, items: list[Any]) -> tuple[MinimumTripleRecord, ...]:
    names = ("qid", "relation", "value", "round")
    return tuple(
        MinimumTripleRecord(
            qid=triple.key("qid", longest=LONGEST_NAME),
            relation=triple.key("relation", longest=LONGEST_RELATION),
            value=_value(triple, "value"),
            round=triple.ordinal_number("round"),
        )
        for triple in _listed_rows(row, "minimum", items, names, 3)
    )


def _listed_rows(
    row: Row, name: str, items: list[Any], names: tuple[str, ...], n_required: int
) -> Iterator[Row]:
    """Yield a row with `names` for each item: a list of `n_required` to all values."""
    for number, item in enumerate(items, start=1):
        label = f"{name}[{number}]"
        if not isinstance(item, list) or not n_required <= len(item) <= len(names):
            row.refuse(label, excerpt(item), f"[{', '.join(names)}]")
            continue
        values = dict(zip(names, item, strict=False))
        yield Row(row.where, values, prefix=f"{label}.", problems=row.problems)


def _value(triple: Row, name: str) -> str:
    """Return the value of a triple: any text, or a number as text."""
    value = triple.values.get(name)
    return str(value) if type(value) in (int, float) else triple.text(name)


EXAMPLES = RowKind(
    "examples",
    ("id", "turns"),
    ("dialog", "golden_answer", "evidence", "meta"),
    read_example,
    keeps_unknown=True,
)
PASSAGES = RowKind("passages", ("id", "text"), ("title", "url"), read_passage)
RESPONSES = RowKind(
    "responses",
    ("id", "example", "setup", "text"),
    ("evidence_shown", "graph_shown", "removed", "chosen_from", "meta"),
    read_response,
    keeps_unknown=True,
)
VOTES = RowKind(
    "votes",
    ("response", "rater", "question", "answer"),
    ("arm", "citation", "position", "seconds", "at", "implied", "source_id"),
    read_vote,
)
SCORES = RowKind(
    "scores",
    ("response", "metric", "score"),
    ("citation", "signature", "assumed", "problem", "truncated", "details"),
    read_score,
)
FLAGS = RowKind("flags", ("response", "rater"), ("arm", "reason"), read_flag)
ADJUDICATIONS = RowKind(
    "adjudications",
    ("response", "question", "answer", "note", "by", "at"),
    ("citation",),
    read_adjudication,
)
RATERS = RowKind(
    "raters", ("rater",), ("excluded", "gold_score", "simulated", "excluded_reason"), read_rater
)
ENTITIES = RowKind(
    "entities", ("qid", "label", "triples"), ("type", "aliases", "text"), read_entity
)
KG_QUESTIONS = RowKind(
    "kg_questions",
    ("id", "question", "entities"),
    ("retrieved", "minimum", "minimum_made_up", "ad_hoc"),
    read_kg_question,
)

SAMPLES = RowKind(
    "samples", ("name", "parameters", "members"), ("cascade", "n_examples"), read_sample
)
RANKINGS = RowKind("rankings", ("ranking", "example", "passage", "rank"), (), read_ranked_passage)

# The kinds by file name. If only the columns tell the kind, the order counts: a vote row could also
# be a flag, and a response a passage.
ROW_KINDS = {
    kind.name: kind
    for kind in (
        VOTES,
        SCORES,
        RESPONSES,
        EXAMPLES,
        ENTITIES,
        KG_QUESTIONS,
        SAMPLES,
        RANKINGS,
        FLAGS,
        ADJUDICATIONS,
        RATERS,
        PASSAGES,
    )
}
