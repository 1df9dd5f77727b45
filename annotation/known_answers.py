"""Known answers of a study as CSV: read from a text or a file, and written again.

The columns are response, question and answer; others are left out, except that the items of a
qualification round may have an explanation. This module only reads.
"""

import csv
import io
from collections.abc import Collection, Iterator, Mapping

from django.db.models import QuerySet

from annotation.models import Study
from annotation.planning import responses_of
from annotation.schemes import Scheme, load_scheme
from annotation.voting import with_implied
from generation.importers.errors import quotation
from generation.models import Response

COLUMNS = ("response", "question", "answer")
LARGEST_FILE = 1024 * 1024  # bytes of a file, at most

KnownAnswers = dict[str, dict[str, int]]  # response key → question → answer, without implied ones


class KnownAnswersError(ValueError):
    """Known answers that cannot be used.

    The message tells the file and the line, the field, what was found and what was expected.
    """


def text_of_file(content: bytes, name: str) -> str:
    """Return the text of a CSV file in UTF-8; errors name the file.

    Raises:
        KnownAnswersError: the file is too large, or no text in UTF-8.
    """
    if len(content) > LARGEST_FILE:
        raise KnownAnswersError(
            f"{name}: found more than {LARGEST_FILE:,} bytes; expected {LARGEST_FILE:,} at most."
        )
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise KnownAnswersError(
            f"{name}: found bytes that are not UTF-8, at byte {error.start}; expected a text file "
            "in UTF-8."
        ) from error


def read_known_answers(
    study: Study, text: str, name: str = "", among: QuerySet[Response] | None = None
) -> KnownAnswers:
    """Return the known answers of a CSV text; an empty text has none, an empty file is an error.

    Args:
        study: the study whose scheme and responses the answers are about.
        text: the text, with the names of the columns in its first line.
        name: the name of the file, for errors; "" if there is none.
        among: the responses that answers may be about; None: those of the study's setups.

    Raises:
        KnownAnswersError: a row cannot be read, or the answers to a response are no full form.
    """
    scheme = load_scheme(study.scheme)
    answers: KnownAnswers = {}
    lines: dict[str, str] = {}  # the place of the first row of each response
    for where, response, key, word in _rows(text, name):
        question = scheme.question(key)
        if question is None:
            raise KnownAnswersError(
                f"{where}, question: found {quotation(key)}; expected one of "
                f"{', '.join(scheme.keys)}."
            )
        answer = question.scale.answer(word)
        if answer is None:
            raise KnownAnswersError(
                f"{where}, answer: found {quotation(word)}; expected {question.scale.expected}."
            )
        if key in answers.setdefault(response, {}):
            raise KnownAnswersError(
                f"{where}, question: found {key} of response {quotation(response)} twice; "
                "expected it once."
            )
        answers[response][key] = answer
        lines.setdefault(response, where)
    responses = responses_of(study) if among is None else among
    keys = set(responses.values_list("key", flat=True)) if answers else set()
    for response, given in answers.items():
        if problem := problem_with(scheme, keys, response, given):
            raise KnownAnswersError(f"{lines[response]}, {problem}")
    return answers


def problem_with(
    scheme: Scheme, keys: Collection[str], response: str, given: Mapping[str, int]
) -> str:
    """Return why answers cannot be the known answers to a response; "" if they can.

    Args:
        scheme: the study's scheme.
        keys: the keys of the responses that answers may be about.
        response: the key of the response.
        given: question → answer.
    """
    quoted = quotation(response)
    if response not in keys:
        return f"response: found {quoted}; expected the key of a response that can be chosen."
    judgement = with_implied(scheme, given)
    if judgement.missing:
        return (
            f"answer: found no answer of response {quoted} to {', '.join(judgement.missing)}; "
            "expected an answer to every question that is asked."
        )
    if judgement.impossible:
        together = " and ".join(judgement.impossible[0])
        return (
            f"answer: found answers of response {quoted} to {together} that exclude each other; "
            "expected answers that fit together."
        )
    return ""


def _rows(text: str, name: str) -> Iterator[tuple[str, str, str, str]]:
    """Yield the place of each row, as errors name it, and its three cells."""

    def place(line: int) -> str:
        return f"{name}, line {line}" if name else f"Line {line}"

    # A browser posts the line breaks of a quoted key as CR LF. Here they become LF again.
    rows = csv.DictReader(io.StringIO(text.strip(), newline=None))
    expected = ", ".join(COLUMNS)
    try:
        if rows.fieldnames is None:
            if name:
                raise KnownAnswersError(f"{name}: found nothing; expected the columns {expected}.")
            return
        if not set(COLUMNS) <= set(rows.fieldnames):
            found = ", ".join(rows.fieldnames)
            raise KnownAnswersError(f"{place(1)}: found the columns {found}; expected {expected}.")
        for row in rows:
            where = place(rows.reader.line_num)
            if None in row:
                n_columns = len(rows.fieldnames)
                raise KnownAnswersError(
                    f"{where}: found {n_columns + len(row[None])} cells; expected {n_columns}."
                )
            response, key, word = ((row[column] or "").strip() for column in COLUMNS)
            yield where, response, key, word
    except csv.Error as error:
        raise KnownAnswersError(
            f"{place(rows.reader.line_num)}: found a row that is not CSV ({error}); "
            "expected quotes that are closed, and cells that are not too long."
        ) from error


def read_explanations(text: str) -> dict[str, str]:
    """Return the first explanation of each response, from a text that was read without error."""
    found: dict[str, str] = {}
    for row in csv.DictReader(io.StringIO(text.strip(), newline=None)):
        why = (row.get("explanation") or "").strip()
        if why:
            found.setdefault((row["response"] or "").strip(), why)
    return found


# --- what is stored, as CSV -----------------------------------------------------------------


def stored_known_answers(study: Study) -> KnownAnswers:
    """Return the known answers of a study, by the key of the response."""
    rows = study.gold_answers.order_by("target__response__key", "pk").values_list(
        "target__response__key", "question", "answer"
    )
    stored: KnownAnswers = {}
    for response, question, answer in rows:
        stored.setdefault(response, {})[question] = answer
    scheme = load_scheme(study.scheme)
    return {response: given_answers(scheme, answers) for response, answers in stored.items()}


def given_answers(scheme: Scheme, answers: Mapping[str, int]) -> dict[str, int]:
    """Return answers without those that a closed gate implies."""
    judged = with_implied(scheme, answers).answers
    return {key: answer.value for key, answer in judged.items() if not answer.is_implied}


def known_answers_csv(scheme: Scheme, known: Mapping[str, Mapping[str, int]]) -> str:
    """Return known answers as CSV, for the form; "" when there are none."""
    scales = {question.key: question.scale for question in scheme.questions}
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for response, answers in known.items():
        writer.writerows((response, key, scales[key].label(n)) for key, n in answers.items())
    return out.getvalue().rstrip("\n") if known else ""
