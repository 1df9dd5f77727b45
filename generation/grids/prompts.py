"""The prompts of a grid: what a type shows of an example, under the choices beside the type."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from generation.grids.material import ExampleMaterial, materials
from generation.grids.prompt_choices import (
    PromptChoices,
    PromptError,
    choices_of,
    draws,
    is_ranking_chosen,
    uses_index,
    what_matters,
)
from generation.grids.question_graphs import QuestionGraphs
from generation.models import Dataset, Passage, Setup
from generation.records import TurnRecord
from generation.retrieval.dataset_index import DatasetIndex, index_of
from generation.retrieval.evidence_choice import forced, part_of_ranking
from generation.text.dialog_prompts import (
    BudgetError,
    BuiltPrompt,
    Demonstration,
    PromptParts,
    build_prompt,
    demonstrating_messages,
)
from generation.text.flat_graph import Triple
from generation.text.native_dialog import newest
from generation.text.native_reading import read_demonstration
from generation.text.prompt_types import PromptType
from generation.text.prompts import prompt_text
from generation.text.restricted_context import (
    Shares,
    n_fact_tokens,
    n_said_tokens,
    restricted,
    shares_kept,
)

# Reasons why an example has no prompt of a type.
NO_GOLDEN = "no golden evidence"
NO_PASSAGE = "no passage to show"
NO_OWN_PASSAGE = "no passage of its own"
NO_DIALOG = "no dialog to keep a share of"
IS_DEMONSTRATED = "it is the one-shot example itself"

# Passages that are looked at beyond those to show, because a collection may hold the same text
# under several ids.
SPARE_PASSAGES = 5
# The same where `SPARE_PASSAGES` are too few. For 200 examples with 20 passages each, this makes
# 30,000 ids in a query; SQLite accepts 32,766.
MOST_SPARE_PASSAGES = 130


class MadePrompt(NamedTuple):
    """The prompt of one example, with the ids of its passages, or the reason why there is none."""

    prompt: BuiltPrompt | None
    passages: tuple[int, ...] = ()
    problem: str = ""
    shares: Shares | None = None  # for restricted context: the shares that are really shown
    # Members of the minimum set that were removed from its graph; None: its type removes none.
    removed: tuple[Triple, ...] | None = None
    n_not_in_graph: int = 0  # members that its graph does not state

    @property
    def graph(self) -> tuple[Triple, ...] | None:
        """The triples that it holds; None: it is not about a knowledge graph."""
        return self.prompt.graph if self.prompt else None


class PromptMaker:
    """A maker of prompts for a dataset's examples, under fixed choices.

    Passages are ranked or drawn among those that the dataset had when the first prompt was made.

    Raises:
        PromptError: the example for the demonstration does not exist, or has no golden evidence or
            answer.
    """

    def __init__(self, dataset: Dataset, choices: PromptChoices) -> None:
        self._choices = what_matters(choices)
        self._dataset = dataset
        kind = choices.type
        self._instructions = prompt_text("instructions") if kind.has_instructions else ""
        self._demonstration = _demonstration(dataset, self._choices) if kind.is_one_shot else None
        self._graphs = QuestionGraphs(dataset.pk, kind, self._choices.seed) if kind.graph else None

    def made(self, materials: Sequence[ExampleMaterial]) -> list[MadePrompt]:
        """Return the prompt of each example.

        This takes at most one query for the passages' texts, and a second one if copies take the
        places of others. Prompts about a knowledge graph take a fixed number of queries of their
        own.
        """
        if self._graphs:
            built = self._graphs.prompts(materials, self._choices.budget)
            return [
                MadePrompt(each.prompt, (), each.problem, None, each.removed, each.n_not_in_graph)
                for each in built
            ]
        problems = [self._problem(material) for material in materials]
        candidates = [
            () if problem else self._candidates(material, SPARE_PASSAGES)
            for material, problem in zip(materials, problems, strict=True)
        ]
        texts = _golden_texts(materials)
        texts |= _texts(candidates, texts)
        short = [
            place
            for place, material in enumerate(materials)
            if not problems[place] and self._is_short(material, candidates[place], texts)
        ]
        for place in short:
            candidates[place] = self._candidates(materials[place], MOST_SPARE_PASSAGES)
        texts |= _texts([candidates[place] for place in short], texts)
        return [
            MadePrompt(None, (), problem) if problem else self._made(material, found, texts)
            for material, problem, found in zip(materials, problems, candidates, strict=True)
        ]

    @property
    def retrieval(self) -> str:
        """The signature of the passages or the graph that prompts show, and of their choice.

        It is "" if no passages are ranked or drawn and no graph is shown.
        """
        if self._graphs:
            return self._graphs.signature
        if self._index is None:
            return ""
        return self._index.collection if draws(self._choices) else self._index.signature

    @cached_property
    def _index(self) -> DatasetIndex | None:
        """The index of all passages of the dataset; None if none are ranked or drawn."""
        if uses_index(self._choices.type):
            return index_of(self._dataset.pk, self._choices.bm25)
        return None

    def _problem(self, material: ExampleMaterial) -> str:
        """Return why an example has no such prompt, as far as the example alone shows this."""
        if self._choices.type.needs_golden and not material.golden:
            return NO_GOLDEN
        if self._choices.type.dialog_share is not None and not n_said_tokens(material.turns):
            return NO_DIALOG
        is_demonstrated = material.key == self._choices.one_shot != ""
        return IS_DEMONSTRATED if is_demonstrated else ""

    def _candidates(self, material: ExampleMaterial, n_spare: int) -> tuple[int, ...]:
        """Return the ids of the passages to choose among, best first.

        Args:
            n_spare: how many more passages to rank or draw than are shown.
        """
        kind, index = self._choices.type, self._index
        golden = [passage.id for passage in material.golden]
        if not kind.shows_passages:
            return ()
        if index is None:
            return tuple(golden)
        without = [] if is_ranking_chosen(kind) else golden
        return self._ranking(material, index, _n_looked_for(kind, material) + n_spare, without)

    def _is_short(
        self, material: ExampleMaterial, candidates: Sequence[int], texts: Mapping[int, str]
    ) -> bool:
        """Return whether copies leave too few candidates although there may be more."""
        n = _n_looked_for(self._choices.type, material)
        if self._index is None or len(candidates) < n + SPARE_PASSAGES:
            return False
        return len(self._different(material, candidates, texts)) < n

    def _different(
        self, material: ExampleMaterial, candidates: Sequence[int], texts: Mapping[int, str]
    ) -> tuple[int, ...]:
        """Return the candidates without copies; except in `top` prompts, golden passages stay."""
        is_top = self._choices.type.evidence == "top"
        golden = {} if is_top else {passage.id: passage.text for passage in material.golden}
        return _without_copies(candidates, texts, golden)

    def _shown(
        self, material: ExampleMaterial, candidates: Sequence[int], texts: Mapping[int, str]
    ) -> tuple[int, ...]:
        """Return the ids of the passages to show; no text is ranked or drawn twice."""
        kind = self._choices.type
        if self._index is None:
            return tuple(candidates)
        different = self._different(material, candidates, texts)
        if kind.of:
            return part_of_ranking(different, kind.k, kind.of, kind.part)
        first = different[: _n_looked_for(kind, material)]
        if kind.evidence == "retrieved":
            return forced(first, [passage.id for passage in material.golden], kind.k)
        return first

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
        if kind.shows_passages and not passages:
            return MadePrompt(None, (), NO_OWN_PASSAGE if kind.n_before else NO_PASSAGE)
        turns = material.turns if kind.has_history else newest(material.turns, 1)
        facts = tuple(texts[passage] for passage in passages)
        if kind.dialog_share is not None:
            return self._restricted(turns, passages, facts, kind.dialog_share)
        return self._built(turns, passages, facts)

    def _restricted(
        self,
        turns: Sequence[TurnRecord],
        passages: Sequence[int],
        facts: Sequence[str],
        dialog_share: float,
    ) -> MadePrompt:
        """Return the prompt of a part of a dialog and of its evidence."""
        shows_passages = self._choices.type.shows_passages
        if shows_passages and not n_fact_tokens(facts):
            return MadePrompt(None, (), NO_PASSAGE)
        left = restricted(turns, facts, dialog_share, self._dataset.language)
        made = self._built(left.turns, [passages[place] for place in left.shown], left.facts)
        if made.prompt is None:
            return made
        kept = made.prompt.context
        if shows_passages:
            shares = shares_kept((kept.turns, kept.facts), (turns, facts))
        else:  # no evidence is shown
            shares = Shares(n_said_tokens(kept.turns) / n_said_tokens(turns), 0.0)
        return made._replace(shares=shares)

    def _built(
        self, turns: Sequence[TurnRecord], passages: Sequence[int], facts: Sequence[str]
    ) -> MadePrompt:
        """Return the prompt of a dialog and its evidence."""
        parts = PromptParts(
            tuple(turns),
            tuple(facts),
            self._instructions,
            self._demonstration,
            self._choices.position,
            self._choices.form,
            self._dataset.language,
        )
        try:
            prompt = build_prompt(parts, self._choices.budget)
        except BudgetError as exc:
            return MadePrompt(None, (), str(exc))
        return MadePrompt(prompt, tuple(passages))


def n_demonstrating(dataset: Dataset, setup: Setup) -> int:
    """Return how many messages after the system's are the demonstration in prompts of a setup.

    It is 0 if its example is no longer in the dataset, or the prompts can no longer be made.
    """
    try:
        choices = choices_of(setup)
        shown = _demonstration(dataset, choices) if choices.type.is_one_shot else None
    except PromptError:
        return 0
    return len(demonstrating_messages(shown, choices.form))


def _n_looked_for(kind: PromptType, material: ExampleMaterial) -> int:
    """Return how many passages are taken from the ranking or the draw.

    For restricted context, this is the number of golden passages.
    """
    if is_ranking_chosen(kind):
        return kind.of or kind.k
    return len(material.golden) if kind.dialog_share is not None else 1


def _without_copies(
    ranking: Sequence[int], texts: Mapping[int, str], golden: Mapping[int, str]
) -> tuple[int, ...]:
    """Return the ranking without passages whose text is golden or came before; golden ones stay.

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


def _golden_texts(materials: Sequence[ExampleMaterial]) -> dict[int, str]:
    return {passage.id: passage.text for material in materials for passage in material.golden}


def _texts(candidates: Sequence[Sequence[int]], known: Mapping[int, str]) -> dict[int, str]:
    """Return the texts of those candidates whose texts are not known yet."""
    missing = {passage for passages in candidates for passage in passages} - known.keys()
    if not missing:
        return {}
    return dict(Passage.objects.filter(pk__in=missing).values_list("pk", "text"))


def _demonstration(dataset: Dataset, choices: PromptChoices) -> Demonstration:
    """Return the paper's demonstration, or one made of an example of the dataset."""
    if not (key := choices.one_shot):
        return read_demonstration(prompt_text("one_shot"))
    example = dataset.examples.filter(key=key).first()
    if example is None:
        raise PromptError(f"one_shot: found {key!r}; expected the id of an example of {dataset}")
    [material] = materials([example.pk])
    if not example.golden_answer or not material.golden:
        raise PromptError(
            f"one_shot: found {key!r}, which lacks a golden answer or golden evidence; "
            "expected an example that has both"
        )
    facts = tuple(passage.text for passage in material.golden)
    return Demonstration(tuple(material.turns), facts, example.golden_answer)
