"""The prompts of a grid: what a type shows of an example, and the choices beside the type."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from generation.grids.grid_file import Query, Ranking
from generation.grids.material import ExampleMaterial, materials
from generation.importers.records import SetupRecord
from generation.models import Dataset, Passage, Setup
from generation.retrieval.bm25 import Bm25
from generation.retrieval.dataset_index import DatasetIndex, index_of
from generation.retrieval.evidence_choice import forced
from generation.text.dialog_prompts import (
    BudgetError,
    BuiltPrompt,
    Position,
    PromptParts,
    build_prompt,
    demonstration,
)
from generation.text.native_dialog import newest
from generation.text.prompt_types import PromptType, prompt_type
from generation.text.prompts import prompt_text

# Why an example has no prompt of a type.
NO_GOLDEN = "no golden evidence"
NO_PASSAGE = "no passage to show"
IS_DEMONSTRATED = "it is the one-shot example itself"

# Looked at beyond those to show: the same text may be in a collection under other ids.
SPARE_PASSAGES = 5


class PromptError(ValueError):
    """Prompts that cannot be made as asked for: where, what was found, what was expected."""


class PromptChoices(NamedTuple):
    """A prompt type and everything else that changes its prompts."""

    type: PromptType
    position: Position = "before-dialog"
    budget: int | None = None  # tokens of a whole prompt at most
    ranking: Ranking = "bm25"  # what retrieved and top passages are
    query: Query = "question"  # what is searched by: the last turn, or all turns
    bm25: Bm25 = Bm25()
    seed: int = 0  # of what is drawn
    one_shot: str = ""  # key of the example that demonstrates; "": the paper's


class MadePrompt(NamedTuple):
    """The prompt of one example, or why there is none; the passages that it shows, by id."""

    prompt: BuiltPrompt | None
    passages: tuple[int, ...] = ()
    problem: str = ""


def draws(choices: PromptChoices) -> bool:
    """Return whether a prompt depends on the seed."""
    if _is_ranking_chosen(choices.type):
        return choices.ranking == "random"
    return choices.type.evidence == "random"


def what_matters(choices: PromptChoices) -> PromptChoices:
    """Return the choices with the default of each that changes nothing in prompts of the type."""
    kind = choices.type
    is_searched = kind.evidence == "next-best" or (
        _is_ranking_chosen(kind) and choices.ranking == "bm25"
    )
    matters = {
        # Before the dialog and before its last turn is the same where there is one turn.
        "position": kind.evidence != "none" and kind.has_history,
        "budget": True,
        "ranking": _is_ranking_chosen(kind),
        "query": is_searched,
        "bm25": is_searched,
        "seed": draws(choices),
        "one_shot": kind.is_one_shot,
    }
    return PromptChoices(
        kind, **{name: getattr(choices, name) for name, is_used in matters.items() if is_used}
    )


def settings_of(choices: PromptChoices) -> dict[str, Any]:
    """Return what a setup with these prompts has for settings, apart from its type.

    What is default, or changes nothing in prompts of the type, stays out. Keys: position, budget,
    ranking, query, idf, k1, b, seed, one_shot.
    """
    given, usual = _flat(what_matters(choices)), _flat(PromptChoices(choices.type))
    return {name: value for name, value in given.items() if value != usual[name]}


def choices_of(setup: Setup | SetupRecord) -> PromptChoices:
    """Return the choices that a setup was made with: `settings_of` the other way round.

    Raises:
        PromptError: its prompt is no type.
    """
    try:
        kind = prompt_type(setup.prompt)
    except ValueError as exc:
        raise PromptError(f"{setup.name}: {exc}") from exc
    usual = PromptChoices(kind)
    values = {name: setup.settings.get(name, value) for name, value in _flat(usual).items()}
    bm25 = Bm25(**{name: values.pop(name) for name in Bm25._fields})
    return what_matters(usual._replace(bm25=bm25, **values))


def _flat(choices: PromptChoices) -> dict[str, Any]:
    """Return the choices beside the type by the names that settings have."""
    names = [name for name in choices._fields if name not in ("type", "bm25")]
    return {name: getattr(choices, name) for name in names} | choices.bm25._asdict()


def _is_ranking_chosen(kind: PromptType) -> bool:
    """Return whether there are other passages than golden ones, to be ranked or drawn."""
    return kind.evidence == "top" or (kind.evidence == "retrieved" and kind.k > 1)


def uses_index(kind: PromptType) -> bool:
    """Return whether passages of the whole dataset are ranked or drawn."""
    return _is_ranking_chosen(kind) or kind.evidence in ("random", "next-best")


class PromptMaker:
    """Makes the prompts of a dataset's examples, under fixed choices.

    Passages are ranked or drawn among those that the dataset had when the first prompt was made.

    Raises:
        PromptError: the example that demonstrates is not there, or has no golden evidence or
            answer.
    """

    def __init__(self, dataset: Dataset, choices: PromptChoices) -> None:
        self._choices = what_matters(choices)
        self._dataset = dataset
        kind = choices.type
        self._instructions = prompt_text("instructions") if kind.has_instructions else ""
        self._demonstration = _demonstration(dataset, self._choices) if kind.is_one_shot else ""

    def made(self, materials: Sequence[ExampleMaterial]) -> list[MadePrompt]:
        """Return the prompt of each example, with at most one query for the passages' texts."""
        problems = [self._problem(material) for material in materials]
        candidates = [
            () if problem else self._candidates(material)
            for material, problem in zip(materials, problems, strict=True)
        ]
        texts = _texts(materials, candidates)
        return [
            MadePrompt(None, (), problem) if problem else self._made(material, found, texts)
            for material, problem, found in zip(materials, problems, candidates, strict=True)
        ]

    @property
    def retrieval(self) -> str:
        """Which passages are ranked or drawn, and how; "" where none are."""
        if self._index is None:
            return ""
        return self._index.collection if draws(self._choices) else self._index.signature

    @cached_property
    def _index(self) -> DatasetIndex | None:
        """All passages of the dataset; None where none are ranked or drawn."""
        if uses_index(self._choices.type):
            return index_of(self._dataset.pk, self._choices.bm25)
        return None

    def _problem(self, material: ExampleMaterial) -> str:
        """Return why an example has no such prompt, as far as it alone says that."""
        if self._choices.type.needs_golden and not material.golden:
            return NO_GOLDEN
        is_demonstrated = material.key == self._choices.one_shot != ""
        return IS_DEMONSTRATED if is_demonstrated else ""

    def _candidates(self, material: ExampleMaterial) -> tuple[int, ...]:
        """Return the ids of the passages to choose among, best first."""
        kind, index = self._choices.type, self._index
        golden = [passage.id for passage in material.golden]
        if index is None:
            return tuple(golden) if kind.needs_golden else ()
        if _is_ranking_chosen(kind):
            return self._ranking(material, index, kind.k + SPARE_PASSAGES)
        return self._ranking(material, index, SPARE_PASSAGES, without=golden)

    def _shown(
        self, material: ExampleMaterial, candidates: Sequence[int], texts: Mapping[int, str]
    ) -> tuple[int, ...]:
        """Return the ids of the passages to show: of what is ranked or drawn, no text twice."""
        kind = self._choices.type
        golden = {passage.id: passage.text for passage in material.golden}
        if self._index is None:
            return tuple(candidates)
        if kind.evidence == "top":
            return _without_copies(candidates, texts, {})[: kind.k]
        others = _without_copies(candidates, texts, golden)
        if kind.evidence == "retrieved":
            return forced(others[: kind.k], list(golden), kind.k)
        return others[:1]

    def _ranking(
        self,
        material: ExampleMaterial,
        index: DatasetIndex,
        k: int,
        without: Sequence[int] = (),
    ) -> tuple[int, ...]:
        if draws(self._choices):
            return tuple(index.random(material.key, self._choices.seed, k, without))
        turns = material.turns[-1:] if self._choices.query == "question" else material.turns
        hits = index.ranked(" ".join(turn.text for turn in turns), k, without)
        return tuple(hit.passage for hit in hits)

    def _made(
        self, material: ExampleMaterial, candidates: Sequence[int], texts: Mapping[int, str]
    ) -> MadePrompt:
        kind = self._choices.type
        passages = self._shown(material, candidates, texts)
        if kind.evidence != "none" and not passages:
            return MadePrompt(None, (), NO_PASSAGE)
        parts = PromptParts(
            material.turns if kind.has_history else newest(material.turns, 1),
            tuple(texts[passage] for passage in passages),
            self._instructions,
            self._demonstration,
            self._choices.position,
        )
        try:
            prompt = build_prompt(parts, self._choices.budget)
        except BudgetError as exc:
            return MadePrompt(None, (), str(exc))
        return MadePrompt(prompt, passages)


def _without_copies(
    ranking: Sequence[int], texts: Mapping[int, str], golden: Mapping[int, str]
) -> tuple[int, ...]:
    """Return the ranking without passages whose text is golden, or stands before; golden stay.

    Args:
        golden: passages that stay in any case, id → text.
    """
    known = set(golden.values())
    kept = []
    for passage in ranking:
        if passage in golden or texts[passage] not in known:
            kept.append(passage)
            known.add(texts[passage])
    return tuple(kept)


def _texts(
    materials: Sequence[ExampleMaterial], candidates: Sequence[Sequence[int]]
) -> dict[int, str]:
    """Return the texts of candidates; those of golden ones are known already."""
    texts = {passage.id: passage.text for material in materials for passage in material.golden}
    if missing := {passage for passages in candidates for passage in passages} - texts.keys():
        texts.update(Passage.objects.filter(pk__in=missing).values_list("pk", "text"))
    return texts


def _demonstration(dataset: Dataset, choices: PromptChoices) -> str:
    """Return the paper's demonstration, or that of an example of the dataset."""
    if not (key := choices.one_shot):
        return prompt_text("one_shot")
    example = dataset.examples.filter(key=key).first()
    if example is None:
        raise PromptError(f"one_shot: found {key!r}; expected the id of an example of {dataset}")
    [material] = materials([example.pk])
    if not example.golden_answer or not material.golden:
        raise PromptError(
            f"one_shot: found {key!r}, which lacks a golden answer or golden evidence; "
            "expected an example that has both"
        )
    facts = [passage.text for passage in material.golden]
    return demonstration(material.turns, facts, example.golden_answer, choices.position)
