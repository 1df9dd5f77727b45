"""The prompts of a grid: what a type shows of an example, and the choices beside the type."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from generation.grids.grid_file import Query, Ranking
from generation.grids.material import ExampleMaterial, materials
from generation.grids.question_graphs import QuestionGraphs
from generation.models import Dataset, Passage, Setup
from generation.records import SetupRecord, TurnRecord
from generation.retrieval.bm25 import Bm25
from generation.retrieval.dataset_index import DatasetIndex, index_of
from generation.retrieval.evidence_choice import forced, part_of_ranking
from generation.text.dialog_forms import FORMS, Form
from generation.text.dialog_prompts import (
    BudgetError,
    BuiltPrompt,
    Demonstration,
    Position,
    PromptParts,
    build_prompt,
)
from generation.text.flat_graph import Triple
from generation.text.native_dialog import newest
from generation.text.native_reading import read_demonstration
from generation.text.prompt_types import PromptType, prompt_type
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


# A setting of setups with restricted context: the evidence is the rest of the dialog share that is
# really kept. Setups without it were made when the evidence was the rest of the share asked for.
EVIDENCE_SHARE, REST_OF_KEPT = "evidence_share", "rest of kept"


class PromptError(ValueError):
    """Prompts that cannot be made as asked for: where, what was found, what was expected."""


class PromptChoices(NamedTuple):
    """A prompt type and everything else that changes its prompts."""

    type: PromptType
    position: Position = "before-dialog"
    budget: int | None = None  # tokens of a whole prompt, at most
    ranking: Ranking = "bm25"  # source of retrieved and top passages
    query: Query = "question"  # text to search by: the last turn, or all turns
    bm25: Bm25 = Bm25()
    seed: int = 0  # seed of everything that is drawn
    one_shot: str = ""  # key of the example for the demonstration; "": the paper's
    form: Form = "native"  # the form of the dialog


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


def draws(choices: PromptChoices) -> bool:
    """Return whether prompts depend on the seed."""
    if _is_ranking_chosen(choices.type):
        return choices.ranking == "random"
    if choices.type.lacks_knowledge:
        return True
    return choices.type.evidence == "random" and choices.type.shows_passages


def what_matters(choices: PromptChoices) -> PromptChoices:
    """Return the choices, with defaults for those that change nothing in prompts of the type."""
    kind = choices.type
    is_searched = (kind.evidence == "next-best" and kind.shows_passages) or (
        _is_ranking_chosen(kind) and choices.ranking == "bm25"
    )
    # Evidence before the dialog and before its last turn is the same if there is at most one turn,
    # except in messages, where the system's message comes before the user's.
    has_turns = kind.has_history or choices.form == "messages"
    has_turns = has_turns and kind.dialog_share != 0
    matters = {
        "position": kind.shows_passages and has_turns,
        "budget": True,
        "ranking": _is_ranking_chosen(kind),
        "query": is_searched,
        "bm25": is_searched,
        "seed": draws(choices),
        "one_shot": kind.is_one_shot,
        "form": kind.graph is None,
    }
    return PromptChoices(
        kind, **{name: getattr(choices, name) for name, is_used in matters.items() if is_used}
    )


def settings_of(choices: PromptChoices) -> dict[str, Any]:
    """Return the settings of a setup with these prompts, apart from its type.

    Defaults and choices that change nothing in prompts of the type are left out. The keys are
    position, budget, ranking, query, idf, k1, b, seed, one_shot, form, and for restricted context
    `EVIDENCE_SHARE`. The native form is the default, because setups made before have it.
    """
    given, usual = _flat(what_matters(choices)), _flat(PromptChoices(choices.type))
    unusual = {name: value for name, value in given.items() if value != usual[name]}
    return unusual | ({EVIDENCE_SHARE: REST_OF_KEPT} if choices.type.cuts_evidence else {})


def form_of(setup: Setup | SetupRecord) -> Form:
    """Return the form of the dialogs in a setup's prompts. An import may have any setting."""
    return next((form for form in FORMS if setup.settings.get("form") == form), "native")


def is_of_earlier_rule(kind: PromptType, settings: Mapping[str, Any]) -> bool:
    """Return whether a setup's evidence was cut for the share asked for, by the earlier rule."""
    return kind.cuts_evidence and settings.get(EVIDENCE_SHARE) != REST_OF_KEPT


def choices_of(setup: Setup | SetupRecord) -> PromptChoices:
    """Return the choices that a setup was made with: the reverse of `settings_of`.

    Raises:
        PromptError: its prompt is no type, or was made by a rule that is no longer used.
    """
    try:
        kind = prompt_type(setup.prompt)
    except ValueError as exc:
        raise PromptError(f"{setup.name}: found {exc}") from exc
    if is_of_earlier_rule(kind, setup.settings):
        raise PromptError(
            f"{setup.name}: its evidence was cut for the requested dialog share, not for the share "
            "really kept. Prompts are no longer made this way. Plan a new grid"
        )
    usual = PromptChoices(kind)
    values = {name: setup.settings.get(name, value) for name, value in _flat(usual).items()}
    values["form"] = form_of(setup)
    bm25 = Bm25(**{name: values.pop(name) for name in Bm25._fields})
    return what_matters(usual._replace(bm25=bm25, **values))


def _flat(choices: PromptChoices) -> dict[str, Any]:
    """Return the choices beside the type, by their names in settings."""
    names = [name for name in choices._fields if name not in ("type", "bm25")]
    return {name: getattr(choices, name) for name in names} | choices.bm25._asdict()


def _is_ranking_chosen(kind: PromptType) -> bool:
    """Return whether passages beside golden ones are taken from the chosen ranking or draw."""
    return kind.evidence == "top" or (kind.evidence == "retrieved" and kind.k > 1)


def uses_index(kind: PromptType) -> bool:
    """Return whether passages of the whole dataset are ranked or drawn."""
    is_other = kind.evidence in ("random", "next-best") and kind.shows_passages
    return is_other or _is_ranking_chosen(kind)


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
        without = [] if _is_ranking_chosen(kind) else golden
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
        left = restricted(turns, facts, dialog_share)
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
        )
        try:
            prompt = build_prompt(parts, self._choices.budget)
        except BudgetError as exc:
            return MadePrompt(None, (), str(exc))
        return MadePrompt(prompt, tuple(passages))


def _n_looked_for(kind: PromptType, material: ExampleMaterial) -> int:
    """Return how many passages are taken from the ranking or the draw.

    For restricted context, this is the number of golden passages.
    """
    if _is_ranking_chosen(kind):
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
