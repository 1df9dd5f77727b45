"""Rating schemes: sets of questions, read from JSON. A scheme is data, not code."""

import json
from collections.abc import Collection, Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

from annotation.scheme_languages import in_language
from generation.importers.cell_meanings import NO, YES, folded, whole_number
from generation.importers.errors import quotation
from generation.importers.json_text import JSONTrouble, parse_json

SCHEME_FILES = Path(__file__).parent / "scheme_files"
USUAL_SCHEME = "AIS"  # the scheme of a study whose researcher chooses none
MAX_QUESTIONS = 200
MAX_CATEGORIES = 50  # labels of a nominal scale
MAX_POINTS = 101  # points of an ordinal scale, as from 0 to 100
MAX_NESTING = 32
LONGEST_KEY = 100
LOWEST, HIGHEST = -(2**15), 2**15 - 1  # the answers that the database can store


class SchemeError(ValueError):
    """A scheme file that cannot be used.

    The message names the question, what was found and what was expected.
    """


class Scale(NamedTuple):
    """The possible answers to a question.

    `values` are the numbers that votes store, in order: (0, 1) for yes/no, low..high for an
    ordinal scale, 0.. for nominal labels. `labels` are the words for them, as files spell them.
    `words` are further words for the values of an ordinal scale, which files may have instead.
    """

    kind: Literal["yes_no", "ordinal", "nominal"]
    values: tuple[int, ...]
    labels: tuple[str, ...]
    words: tuple[tuple[str, int], ...] = ()

    def answer(self, text: str) -> int | None:
        """Return the number for an answer of a file; None when the scale has no such answer.

        Numbers are whole, however they are written, and labels may be in another spelling.
        """
        if self.kind == "nominal":
            as_written, by_spelling = _label_numbers(self.labels)
            return as_written.get(text.strip(), by_spelling.get(folded(text)))
        number = whole_number(text)
        if self.kind == "yes_no" and number is None:
            number = _YES_NO_WORDS.get(folded(text))
        if number is None and self.words:
            number = _points_of_words(self.words).get(folded(text))
        return number if number in self.values else None

    def number(self, text: str) -> int:
        """Return the number for an answer.

        Raises:
            ValueError: the scale has no such answer.
        """
        answer = self.answer(text)
        if answer is None:
            raise ValueError(f"found the answer {quotation(text)}; expected {self.expected}")
        return answer

    def label(self, answer: int) -> str:
        """Return the word for a stored answer, as exports write it."""
        return self.labels[self.values.index(answer)]

    @property
    def expected(self) -> str:
        """The answers that are expected, in words for the error about a wrong one."""
        if self.kind == "ordinal":
            words = ", ".join(f"{word} ({value})" for word, value in self.words)
            numbers = f"a whole number from {self.values[0]} to {self.values[-1]}"
            return f"{numbers}, or {words}" if words else numbers
        return " or ".join([", ".join(self.labels[:-1]), self.labels[-1]])


YES_NO = Scale("yes_no", (0, 1), ("no", "yes"))
_YES_NO_WORDS = dict.fromkeys(YES, 1) | dict.fromkeys(NO, 0)


@lru_cache(maxsize=1000)
def _label_numbers(labels: tuple[str, ...]) -> tuple[Mapping[str, int], Mapping[str, int]]:
    """Return the numbers of labels as they are written, and of their spellings."""
    by_spelling: dict[str, int] = {}
    for number, label in enumerate(labels):
        by_spelling.setdefault(folded(label), number)
    return {label: number for number, label in enumerate(labels)}, by_spelling


@lru_cache(maxsize=1000)
def _points_of_words(words: tuple[tuple[str, int], ...]) -> Mapping[str, int]:
    return {folded(word): value for word, value in words}


class WorkedExample(NamedTuple):
    """A worked example of one answer: the text that is judged, and the reason."""

    answer: str
    text: str
    reason: str


class Question(NamedTuple):
    """One question of a scheme.

    `after` names its gates: questions that must all be answered yes, or this one is an implied no.
    `better` is the answer that is good for the response, if there is one. With `with_evidence`, the
    evidence is shown beside this question, and only beside questions that have it as well.
    """

    key: str
    wording: str
    scale: Scale
    help: str
    examples: tuple[WorkedExample, ...]
    ends: tuple[str, str] | None  # the words at the ends of an ordinal scale
    after: tuple[str, ...]
    stage: str
    better: Literal["yes", "no"] | None
    with_evidence: bool = False


class Scheme(NamedTuple):
    """A set of rating questions, in the order in which they are asked.

    `evidence` is needed (a response without any is not rated), shown (if there is some), or none.
    `citations` are shown in the response's text, or removed from it as in metrics of text quality.
    """

    key: str
    title: str
    questions: tuple[Question, ...]
    impossible: tuple[Mapping[str, int], ...]  # combinations of answers that exclude each other
    target: Literal["response", "citation"] = "response"  # the thing that questions are about
    evidence: Literal["needed", "shown", "none"] = "needed"
    citations: Literal["shown", "removed"] = "shown"
    named_main: tuple[str, ...] = ()  # keys of the questions that the file names as the main ones

    @property
    def main_questions(self) -> list[Question]:
        """The questions that a study asks about first: those that the scheme names.

        When it names none, this is `attributable`, or every question when there is none of this
        key.
        """
        keys = self.named_main or ("attributable",)
        return [q for q in self.questions if q.key in keys] or list(self.questions)

    @property
    def has_evidence_by_question(self) -> bool:
        """Whether the evidence is shown beside some questions only, and not beside all of them."""
        return any(question.with_evidence for question in self.questions)

    def question(self, key: str) -> Question | None:
        """Return the question with this key; None when the scheme has none."""
        return next((q for q in self.questions if q.key == key), None)

    def gates_of(self, question: Question) -> frozenset[str]:
        """Return the keys of a question's gates, and of the gates of these gates."""
        gates = frozenset(question.after)
        for before in reversed(self.questions):  # a gate is always an earlier question
            if before.key in gates:
                gates = gates.union(before.after)
        return gates

    def behind(self, gate: str) -> tuple[Question, ...]:
        """Return the questions that a no to this gate closes, in order, also those further on."""
        return tuple(question for question in self.questions if gate in self.gates_of(question))

    @property
    def keys(self) -> tuple[str, ...]:
        return tuple(question.key for question in self.questions)


def read_scheme(text: str) -> Any:
    """Return the data of a JSON text; `load_scheme` checks whether it is a scheme.

    Raises:
        SchemeError: the text is not JSON, or it is nested too deeply for a scheme.
    """
    try:
        return parse_json(text, MAX_NESTING)
    except JSONTrouble as trouble:
        found = trouble.found if text.strip() else "nothing"
        raise SchemeError(f"Found {found}; expected a scheme as JSON") from trouble


def load_scheme(data: object, language: str = "") -> Scheme:
    """Return the scheme that a JSON object describes.

    Args:
        data: the object. Its texts may be in several languages, see `annotation.scheme_languages`.
        language: the code of the language in which it is shown; "": the usual one, in which votes
            and files are written.

    Raises:
        SchemeError: the object is no scheme. The message names the question, what was found and
            what was expected.
    """
    if not isinstance(data, Mapping):
        raise SchemeError(f"scheme: found {quotation(data)}; expected an object")
    usual = _loaded(in_language(data))
    if not language:
        return usual
    shown = _loaded({**in_language(data, language), "impossible": []})
    questions = map(_with_labels_shown, shown.questions, usual.questions)
    return shown._replace(questions=tuple(questions), impossible=usual.impossible)


def _with_labels_shown(shown: Question, usual: Question) -> Question:
    """Return a question whose examples have the labels that are shown, not the usual ones."""
    words = dict(zip(usual.scale.labels, shown.scale.labels, strict=True))
    examples = (
        each._replace(answer=words.get(each.answer, each.answer)) for each in shown.examples
    )
    return shown._replace(examples=tuple(examples))


def _loaded(data: Mapping[str, Any]) -> Scheme:
    key = _text(data, "key", "scheme")
    if len(key) > LONGEST_KEY:
        found = f"found {len(key)} characters; expected {LONGEST_KEY} at most"
        raise SchemeError(f"scheme, key: {found}")
    rows = data.get("questions")
    if not isinstance(rows, Sequence) or isinstance(rows, str) or not rows:
        raise SchemeError(
            f"scheme {key!r}, questions: found {quotation(rows)}; expected one or more objects"
        )
    if len(rows) > MAX_QUESTIONS:
        found = f"found {len(rows):,} questions; expected {MAX_QUESTIONS} at most"
        raise SchemeError(f"scheme {key!r}: {found}")
    questions: list[Question] = []
    for row in rows:
        question = _question(row, {q.key: q for q in questions})
        questions.append(question)
    title = _text(data, "title", f"scheme {key!r}", default=key)
    by_key = {question.key: question for question in questions}
    usual = Scheme._field_defaults
    scheme = Scheme(
        key,
        title,
        tuple(questions),
        _impossible(data.get("impossible", []), by_key),
        _one_of(data, "target", usual["target"], ("response", "citation")),
        _one_of(data, "evidence", usual["evidence"], ("needed", "shown", "none")),
        _one_of(data, "citations", usual["citations"], ("shown", "removed")),
        _main(data.get("main", []), by_key),
    )
    for question in scheme.questions:
        if question.with_evidence and scheme.evidence == "none":
            expected = "expected false, because the scheme's evidence is none"
            raise SchemeError(f"question {question.key!r}, with_evidence: found true; {expected}")
    if scheme.citations == "removed" and scheme.target == "citation":
        raise SchemeError(
            "citations: found 'removed'; expected shown, because the scheme's target is a citation"
        )
    return scheme


def _question(row: object, earlier: Mapping[str, Question]) -> Question:
    if not isinstance(row, Mapping):
        raise SchemeError(
            f"question {len(earlier) + 1}: found {quotation(row)}; expected an object"
        )
    key = _text(row, "key", f"question {len(earlier) + 1}")
    where = f"question {key!r}"
    if key in earlier:
        raise SchemeError(f"{where}: found the key twice; expected each key once")
    if len(key) > 64:
        raise SchemeError(f"{where}: found a key of {len(key)} characters; expected 64 at most")
    after = row.get("after", [])
    if not isinstance(after, list) or not all(_is_gate(key, earlier) for key in after):
        expected = "expected a list of keys of earlier yes/no questions"
        raise SchemeError(f"{where}, after: found {quotation(after)}; {expected}")
    better = row.get("better")
    if better not in (None, "yes", "no"):
        raise SchemeError(
            f"{where}, better: found {quotation(better)}; expected yes, no or nothing"
        )
    ends = row.get("ends")
    if ends is not None and not (isinstance(ends, list) and len(ends) == 2):
        raise SchemeError(
            f"{where}, ends: found {quotation(ends)}; expected the words of both ends"
        )
    with_evidence = row.get("with_evidence", False)
    if not isinstance(with_evidence, bool):
        expected = "expected true or false"
        raise SchemeError(f"{where}, with_evidence: found {quotation(with_evidence)}; {expected}")
    examples = row.get("examples", [])
    if not isinstance(examples, list):
        raise SchemeError(
            f"{where}, examples: found {quotation(examples)}; expected a list of objects"
        )
    return Question(
        key=key,
        wording=_text(row, "wording", where, default=key.replace("_", " ").capitalize()),
        scale=_scale(row.get("scale"), where),
        help=_text(row, "help", where, default=""),
        examples=tuple(_example(example, where) for example in examples),
        ends=(str(ends[0]), str(ends[1])) if ends else None,
        after=tuple(after),
        stage=_text(row, "stage", where, default=""),
        better=better,
        with_evidence=with_evidence,
    )


def _is_gate(key: object, earlier: Mapping[str, Question]) -> bool:
    return isinstance(key, str) and key in earlier and earlier[key].scale == YES_NO


def _scale(scale: object, where: str) -> Scale:
    if scale == "yes_no":
        return YES_NO
    if isinstance(scale, Mapping) and len(scale.keys() - {"words"}) == 1:
        words = scale.get("words", {})
        match scale:
            case {"ordinal": [int(low), int(high)]} if (
                LOWEST <= low < high < low + MAX_POINTS
                and high <= HIGHEST
                and not isinstance(low, bool)
                and isinstance(words, Mapping)
                and all(type(point) is int and low <= point <= high for point in words.values())
            ):
                values = tuple(range(low, high + 1))
                return Scale("ordinal", values, tuple(map(str, values)), (*words.items(),))
            case {"nominal": [*labels]} if (
                not words
                and 2 <= len(labels) <= MAX_CATEGORIES
                and all(isinstance(label, str) and label.strip() for label in labels)
                and len({label.strip().lower() for label in labels}) == len(labels)
            ):
                stripped = tuple(label.strip() for label in labels)
                return Scale("nominal", tuple(range(len(labels))), stripped)
    raise SchemeError(
        f'{where}, scale: found {quotation(scale)}; expected "yes_no", '
        f'{{"ordinal": [1, 4]}} (2 to {MAX_POINTS} points) or {{"nominal": ["a", "b"]}} '
        f"(2 to {MAX_CATEGORIES} different)"
    )


def _example(row: object, where: str) -> WorkedExample:
    if not isinstance(row, Mapping):
        raise SchemeError(f"{where}, examples: found {quotation(row)}; expected objects")
    return WorkedExample(
        *(_text(row, name, f"{where}, examples") for name in WorkedExample._fields)
    )


def _impossible(rows: object, questions: Mapping[str, Question]) -> tuple[Mapping[str, int], ...]:
    expected = "expected objects of the scheme's questions and their answers"
    if not isinstance(rows, list):
        raise SchemeError(f"impossible: found {quotation(rows)}; {expected}")
    combinations: list[Mapping[str, int]] = []
    for row in rows:
        if not isinstance(row, Mapping) or not set(row) <= set(questions):
            raise SchemeError(f"impossible: found {quotation(row)}; {expected}")
        answers = {key: questions[key].scale.answer(str(word)) for key, word in row.items()}
        found = {key: answer for key, answer in answers.items() if answer is not None}
        if len(found) != len(answers):
            raise SchemeError(f"impossible: found {quotation(row)}; {expected}")
        combinations.append(found)
    return tuple(combinations)


def _main(keys: object, questions: Mapping[str, Question]) -> tuple[str, ...]:
    if not isinstance(keys, list) or not all(isinstance(k, str) and k in questions for k in keys):
        raise SchemeError(
            f"main: found {quotation(keys)}; expected a list of keys of the scheme's questions"
        )
    return tuple(keys)


def _one_of(row: Mapping[Any, Any], name: str, default: str, known: Sequence[str]) -> Any:
    found = row.get(name, default)
    if found not in known:
        raise SchemeError(f"{name}: found {quotation(found)}; expected {', '.join(known)}")
    return found


def _text(row: Mapping[Any, Any], name: str, where: str, default: str | None = None) -> str:
    found = row.get(name, default)
    if not isinstance(found, str) or (default is None and not found.strip()):
        raise SchemeError(f"{where}, {name}: found {quotation(found)}; expected text")
    return found


@cache
def built_in_schemes() -> Mapping[str, Mapping[str, Any]]:
    """Return the schemes that are part of Attest, as data, by key."""
    files = sorted(SCHEME_FILES.glob("*.json"))
    schemes = [json.loads(file.read_text(encoding="utf-8")) for file in files]
    return {scheme["key"]: scheme for scheme in schemes}


def matching_scheme(questions: Collection[str]) -> Mapping[str, Any] | None:
    """Return the built-in scheme that asks exactly these questions; None when none does."""
    for data in built_in_schemes().values():
        if {row["key"] for row in data["questions"]} == set(questions):
            return data
    return None
