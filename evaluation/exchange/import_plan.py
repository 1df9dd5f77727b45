"""The plan of an import: the dataset and study that it adds to, and the scheme of its votes."""

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from annotation.guessed_schemes import guess_scheme
from annotation.models import Study
from annotation.scheme_languages import in_language
from annotation.schemes import (
    MAX_QUESTIONS,
    Scheme,
    SchemeError,
    built_in_schemes,
    load_scheme,
    matching_scheme,
)
from annotation.study_file import PROBABILITIES, StudyFacts, StudyFileError, read_study_facts
from evaluation.exchange.given_votes import UndecidedWords
from generation.importers import Material
from generation.importers.cell_meanings import is_missing
from generation.importers.dataset_file import read_dataset_facts
from generation.importers.errors import DatasetError, excerpt, quotation
from generation.limits import LONGEST_NAME
from generation.models import Dataset
from generation.records import Problem, VoteRecord

NEEDS_STUDY = frozenset({"raters", "votes", "flags", "adjudications"})
MAX_ANSWERS = 1000  # different answers to one question that are counted, at most
BETWEEN_REPORTS = 2000  # votes

Progress = Callable[[int, float], None]  # rows read, share of the bytes


class ImportPlan(NamedTuple):
    """The plan of an import: datasets and studies that exist, or names for new ones."""

    name: str
    dataset: Dataset | None
    about: Mapping[str, str]  # facts about the dataset that the file states
    study_name: str | None  # None: the file holds nothing that belongs to a study
    study: Study | None
    facts: StudyFacts
    scheme_data: Mapping[str, Any]
    scheme: Scheme
    scheme_origin: str

    @property
    def is_without_implied(self) -> bool:
        """Whether the file, or an earlier import into the study, leaves implied noes out."""
        return self.facts.without_implied or bool(self.study and self.study.is_without_implied)


def plan_import(
    material: Material,
    name: str,
    study_name: str | None = None,
    on_progress: Progress = lambda n_rows, share: None,
) -> ImportPlan:
    """Return what the material is added to, and by which scheme its votes are read.

    If the scheme is not known, one more pass over the votes finds one.

    Raises:
        DatasetError: a study of that name belongs to another dataset or was not imported, or the
            scheme or the facts about the dataset cannot be used.
    """
    name = _name(name, "dataset")
    dataset = Dataset.objects.filter(name=name).first()
    about = read_dataset_facts(material.about or {})
    if not NEEDS_STUDY & set(material.kinds):
        return ImportPlan(
            name, dataset, about, None, None, StudyFacts(), {}, Scheme("", "", (), ()), ""
        )
    try:
        facts = read_study_facts(material.study or {})
    except StudyFileError as error:
        raise DatasetError(f"study.json, {error}") from error
    study_name = _name(study_name or facts.name or name, "study")
    study = Study.objects.select_related("dataset").filter(name=study_name).first()
    if study and (study.dataset != dataset or not study.is_imported):
        found = f"a study {study_name!r} of dataset {study.dataset.name!r}"
        raise DatasetError(
            "study", found, f"the name of an imported study of {name!r}, or a new name"
        )
    if study:
        _refuse_other_facts(material, study, facts)
    scheme_data, origin = _scheme_for(material, study, facts, study_name, on_progress)
    try:
        scheme = load_scheme(scheme_data)
    except SchemeError as error:
        raise DatasetError(f"scheme.json, {error}") from error
    return ImportPlan(name, dataset, about, study_name, study, facts, scheme_data, scheme, origin)


def _name(name: str, what: str) -> str:
    """Return a dataset's or a study's name without blanks around it.

    Raises:
        DatasetError: the name is empty, or longer than the database can store.
    """
    stripped = name.strip()
    if not 0 < len(stripped) <= LONGEST_NAME:
        found = f"a name of {len(stripped)} characters"
        raise DatasetError(what, found, f"1 to {LONGEST_NAME} characters")
    return stripped


def _scheme_for(
    material: Material,
    study: Study | None,
    facts: StudyFacts,
    study_name: str,
    on_progress: Progress,
) -> tuple[Mapping[str, Any], str]:
    """Return the scheme's data, and a text that says where the scheme came from."""
    if study:
        if material.scheme and material.scheme != study.scheme:
            found = f"a scheme that differs from the scheme of the study {study.name!r}"
            raise DatasetError(
                "scheme.json", found, "the same scheme, or the name of another study"
            )
        _refuse_other_scales(material, study)
        return study.scheme, f"the scheme of study {study.name}"
    if material.scheme:
        return material.scheme, "scheme.json" if material.format == "interchange" else "the format"
    if named := built_in_schemes().get(facts.scheme):
        return named, f"the built-in scheme {facts.scheme}, as the file says"
    answers, missing = _survey(material, on_progress)
    if not any(answers.values()):
        if problem := _first_problem(material):
            raise DatasetError(str(problem))
        raise DatasetError(
            "votes", "no votes", "at least one vote, or a scheme.json with the questions"
        )
    is_stated = any(map(material.scale_of, answers))
    built_in = None if is_stated else matching_scheme(answers)
    if built_in:
        return built_in, f"the built-in scheme {built_in['key']}, whose questions these are"
    try:
        given = {key: words for key, words in answers.items() if words}
        scheme = guess_scheme(study_name, given, material.scale_of)
        questions = load_scheme(scheme).questions
    except SchemeError as error:
        raise DatasetError(f"votes, {error}") from error
    for question in questions:
        is_open = question.scale.kind == "nominal" and not material.scale_of(question.key)
        if is_open and missing[question.key]:
            raise UndecidedWords(material.look, question.key, missing[question.key])
    origin = "made from the questions and answers found"
    if is_stated:
        return scheme, f"{origin}, and the scales of the mapping"
    if material.look and any(question.scale.kind == "ordinal" for question in questions):
        return scheme, f"{origin}; a mapping may state other scales ([scales])"
    return scheme, origin


def _refuse_other_facts(material: Material, study: Study, facts: StudyFacts) -> None:
    """Refuse facts of a study.json that differ from those of the study.

    Raises:
        DatasetError: there is one.
    """
    keys = ("raters_per_unit", "evidence_choice", "seed")
    pairs = {key: (getattr(facts, key), getattr(study, key)) for key in keys}
    pairs[PROBABILITIES] = (facts.further.get(PROBABILITIES), study.settings.get(PROBABILITIES))
    for key, (found, there) in pairs.items():
        if key in (material.study or {}) and found != there:
            expected = f"{quotation(there)}, as in the study {study.name!r}"
            raise DatasetError(f"study.json, {key}", quotation(found), expected)


def _refuse_other_scales(material: Material, study: Study) -> None:
    """Refuse a scale of a mapping that the study does not have.

    Raises:
        DatasetError: there is one.
    """
    for question in in_language(study.scheme)["questions"]:
        stated = material.scale_of(question["key"])
        if stated not in (None, question["scale"]):
            expected = f"{excerpt(question['scale'])}, as in the study {study.name!r}"
            raise DatasetError(f"scales, {question['key']}", excerpt(stated), expected)


def _first_problem(material: Material) -> Problem | None:
    records = (record for kind in material.kinds for record in material.records(kind))
    return next((record for record in records if isinstance(record, Problem)), None)


def _survey(
    material: Material, on_progress: Progress
) -> tuple[dict[str, Counter[str]], dict[str, Counter[str]]]:
    """Return for each question how often each answer was given: question → answer → count.

    The words that may mean that there is no answer are counted apart, in the second of the two.

    Raises:
        DatasetError: there are too many questions, or only bad rows; then the message is
            that of the first.
    """
    answers: dict[str, Counter[str]] = {}
    missing: dict[str, Counter[str]] = {}
    first_problem: Problem | None = None
    for n_rows, record in enumerate(material.records("votes")):
        if n_rows % BETWEEN_REPORTS == 0:
            on_progress(n_rows, 0.0)
        if isinstance(record, VoteRecord):
            counts = answers.setdefault(record.question, Counter())
            words = missing.setdefault(record.question, Counter())
            word = record.answer.strip()
            if not record.is_told and is_missing(word):
                words[word] += bool(word)
            elif word in counts or len(counts) < MAX_ANSWERS:
                counts[word] += 1
            if len(answers) > MAX_QUESTIONS:
                found = f"more than {MAX_QUESTIONS} different questions"
                raise DatasetError(
                    str(record.where), found, "keys of questions in the column of questions"
                )
        elif isinstance(record, Problem):
            first_problem = first_problem or record
    if first_problem and not answers:
        raise DatasetError(str(first_problem))
    return answers, {question: +words for question, words in missing.items()}
