"""The plan of a recipe ([A] 7.7): K1, K2 and the number of calls. This module only reads."""

import math
from collections.abc import Iterable, Mapping, Sequence
from heapq import nsmallest
from typing import Annotated, NamedTuple

from evaluation.measures.recipe import highest, items_that_fit, smallest_k
from evaluation.reports.report import Report
from evaluation.retrieval.ranked_examples import RetrievalChoices
from evaluation.retrieval.report import RecallRow, retrieval_report
from generation.batches import lots
from generation.choices.declaration import Choice
from generation.grids.grid_file import HIGHEST_TEMPERATURE, MOST_TOKENS, QUERIES, Query
from generation.grids.material import materials
from generation.grids.plan import examples_of
from generation.grids.recipe import n_calls
from generation.models import Dataset, Passage, Sample
from generation.retrieval.dataset_index import can_wait_for_index
from generation.seeded_random import random_key
from generation.text.dialog_forms import fact_lines
from generation.text.native_dialog import native_dialog
from generation.text.prompt_types import MOST_FACTS, n_parts
from generation.text.prompts import prompt_text
from generation.text.tokens import count_tokens

USUAL_RECALL = 0.9
SEED = 0  # seed of the samples whose tokens are counted
MOST_COUNTED = 500  # dialogs whose tokens are counted, and passages likewise
TOGETHER = 200  # examples that are read at once


class RecipeChoices(NamedTuple):
    """The choices of a researcher; K1 and K2 follow from the rest unless they are typed."""

    recall: Annotated[
        float,
        Choice(
            "Recall to reach",
            help="K1 is the smallest k whose recall@k reaches this value.",
            low=0.01,
            high=1,
        ),
    ] = USUAL_RECALL
    k1: Annotated[
        int | None,
        Choice(
            "Passages used (K1)",
            help="The nearest retrieved passages, in all calls together.",
            low=1,
            high=MOST_FACTS,
            usual="computed from recall",
        ),
    ] = None
    budget: Annotated[
        int | None,
        Choice(
            "Tokens of a prompt at most",
            help="K2 is how many passages of average length fit into this.",
            low=1,
            high=MOST_TOKENS,
            usual="no limit",
        ),
    ] = None
    k2: Annotated[
        int | None,
        Choice(
            "Passages in a prompt (K2)",
            help="At most this many are shown at a time.",
            low=1,
            high=MOST_FACTS,
            usual="computed from the tokens",
        ),
    ] = None
    sample: Sample | None = None  # None: all examples
    query: Annotated[Query, Choice("Searched by", QUERIES)] = "question"
    temperature: Annotated[float, Choice("Temperature", low=0, high=HIGHEST_TEMPERATURE)] = 0.0
    has_instructions: Annotated[bool, Choice("Instructions in every prompt")] = False


class TokenMeans(NamedTuple):
    """Means over samples drawn by a seed, counted by `generation.text.tokens`; NaN without any."""

    dialog: float  # a native dialog, with the line to complete
    item: float  # a passage as a fact, with its label
    instructions: int
    n_dialogs: int
    n_items: int


class RecipePlan(NamedTuple):
    """The plan of a recipe. Where K1 or K2 is None, `problems` says why, by the field to fix."""

    target: float  # the recall to reach
    k1: int | None
    why_k1: str
    k2: int | None
    why_k2: str
    recall: Report[RecallRow] | None  # for k = 1..20 over the examples asked; None: no index yet
    tokens: TokenMeans
    n_examples: int
    problems: Mapping[str, str]

    @property
    def parts(self) -> list[tuple[int, int]]:
        """The calls of each K: (K, ⌈K1 / K⌉)."""
        if self.k1 is None or self.k2 is None:
            return []
        return [(k, n_parts(self.k1, k)) for k in range(1, self.k2 + 1)]

    @property
    def n_calls_each(self) -> int | None:
        """The number of calls for one example; None without K1 or K2."""
        return None if self.k1 is None or self.k2 is None else n_calls(self.k1, self.k2)

    @property
    def n_calls(self) -> int | None:
        """The number of calls in all; None without K1 or K2."""
        return None if self.n_calls_each is None else self.n_calls_each * self.n_examples


def plan_recipe(
    dataset: Dataset,
    choices: RecipeChoices,
    *,
    waits_for_index: bool = True,
    lowers_target: bool = False,
) -> RecipePlan:
    """Return K1 and K2 for some choices, with the reasons.

    Args:
        dataset: the dataset that is asked about.
        choices: the choices.
        waits_for_index: whether passages are indexed here and now, however many there are.
            Otherwise recall is not known where that takes long.
        lowers_target: whether the highest possible recall is the target if the chosen one is above
            it.
    """
    examples = examples_of(dataset, choices.sample)
    n_passages = dataset.passages.count()
    problems: dict[str, str] = {}
    if not examples:
        problems["sample"] = "There are no examples to ask about."
    recall = None
    if n_passages and (waits_for_index or can_wait_for_index(dataset.pk)):
        asked = RetrievalChoices(query=choices.query)
        counted = examples if choices.sample else None
        recall = retrieval_report(dataset, asked, MOST_FACTS, counted)
        if lowers_target:
            choices = choices._replace(recall=min(choices.recall, _possible(recall)))
    k1, why_k1 = _k1(choices, recall, n_passages)
    if k1 is None:
        problems["k1"] = why_k1
    tokens = _token_means(dataset, list(examples), choices.has_instructions)
    k2, why_k2 = _k2(choices, k1, tokens)
    if k2 is None and k1 is not None:
        problems["k2"] = why_k2
    return RecipePlan(
        choices.recall, k1, why_k1, k2, why_k2, recall, tokens, len(examples), problems
    )


def _k1(
    choices: RecipeChoices, recall: Report[RecallRow] | None, n_passages: int
) -> tuple[int | None, str]:
    """Return K1 and a text that says where it comes from, or None and why there is none."""
    if not n_passages:
        return None, "The dataset has no passages to retrieve."
    if choices.k1 is not None:
        if choices.k1 > n_passages:
            return None, f"Found {choices.k1}; there are {n_passages:,} passages to retrieve."
        return choices.k1, "as typed" + _recall_there(choices.k1, recall)
    if recall is None:
        return None, "The passages are not indexed yet, so recall is not known: type K1."
    recalls = recalls_of(recall)
    found = smallest_k(recalls, choices.recall)
    if found is not None:
        said = f"the smallest k with a recall of {_percent(choices.recall)} or more"
        return found, said + _recall_there(found, recall)
    if math.isnan(highest(recalls)):
        return None, "No example has golden evidence, so recall is not known: type K1."
    return None, (
        f"A recall of {_possible(recall):g} is the most that is possible with k up to "
        f"{len(recalls)}. Use it, or type K1."
    )


def _k2(choices: RecipeChoices, k1: int | None, tokens: TokenMeans) -> tuple[int | None, str]:
    """Return K2 and a text that says where it comes from, or None and why there is none."""
    if k1 is None:
        return None, "K2 depends on K1."
    if choices.k2 is not None:
        if choices.k2 > k1:
            return None, f"Found {choices.k2}; expected at most K1, which is {k1}."
        return choices.k2, "as typed"
    if choices.budget is None:
        return k1, "equal to K1, as the tokens have no limit"
    if not tokens.item > 0 or math.isnan(tokens.dialog):
        return None, "There is no dialog or passage to count tokens of: type K2."
    found = items_that_fit(
        choices.budget,
        k1,
        dialog_tokens=tokens.dialog,
        item_tokens=tokens.item,
        instruction_tokens=tokens.instructions,
    )
    less = f" − {tokens.instructions} of instructions" if tokens.instructions else ""
    said = (
        f"({choices.budget:,} tokens − {tokens.dialog:,.1f} of the mean dialog{less}) / "
        f"{tokens.item:,.1f} of the mean passage"
    )
    if not found:
        return None, (
            f"Not one passage of average length fits: {said} is below 1. Type K2 (each prompt is "
            "then shortened), or allow more tokens."
        )
    return found, f"{said}, at most K1"


def recalls_of(report: Report[RecallRow]) -> list[float]:
    """Return recall@k for k = 1, 2, … from a report on retrieval; NaN where undefined."""
    return [math.nan if row.recall.value is None else row.recall.value for row in report.rows]


def _possible(report: Report[RecallRow]) -> float:
    """Return the highest recall of a report, cut to two digits; infinity if it is not known."""
    most = highest(recalls_of(report))
    return math.inf if math.isnan(most) else math.floor(100 * most + 1e-9) / 100


def _recall_there(k1: int, recall: Report[RecallRow] | None) -> str:
    recalls = recalls_of(recall) if recall else []
    if len(recalls) < k1 or math.isnan(recalls[k1 - 1]):
        return ""
    n = recall.rows[k1 - 1].n if recall else 0
    over = f"{n:,} example{'' if n == 1 else 's'} with golden evidence"
    return f"; recall@{k1} is {_percent(recalls[k1 - 1])} over {over}"


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"


# --- tokens ---------------------------------------------------------------------------------


def _token_means(dataset: Dataset, examples: Sequence[int], has_instructions: bool) -> TokenMeans:
    dialogs = _dialog_tokens(dataset, examples)
    items = _item_tokens(dataset)
    return TokenMeans(
        dialog=_mean(dialogs),
        item=_mean(items),
        instructions=count_tokens(prompt_text("instructions")) if has_instructions else 0,
        n_dialogs=len(dialogs),
        n_items=len(items),
    )


def _dialog_tokens(dataset: Dataset, examples: Sequence[int]) -> list[int]:
    """Return the numbers of tokens in the dialogs of some of the examples."""
    rows = dataset.examples.values_list("key", "pk").iterator(chunk_size=20_000)
    asked = set(examples)
    drawn = _drawn((key, pk) for key, pk in rows if pk in asked)
    return [
        count_tokens(native_dialog(example.turns))
        for batch in lots(drawn, TOGETHER)
        for example in materials(batch)
    ]


def _item_tokens(dataset: Dataset) -> list[int]:
    """Return the numbers of tokens in some of the passages, each with its label."""
    rows = Passage.objects.filter(dataset=dataset).values_list("key", "pk")
    drawn = _drawn(rows.iterator(chunk_size=20_000))
    texts = Passage.objects.filter(pk__in=drawn).values_list("text", flat=True)
    return [count_tokens(line) for text in texts for line in fact_lines([text], "native")]


def _drawn(rows: Iterable[tuple[str, int]]) -> list[int]:
    """Return the ids of at most `MOST_COUNTED` rows (key, id), drawn by their keys."""
    least = nsmallest(MOST_COUNTED, rows, key=lambda row: (random_key(SEED, "recipe", row[0]), row))
    return [pk for _, pk in least]


def _mean(values: Sequence[int]) -> float:
    return sum(values) / len(values) if values else math.nan
