"""What a grid would ask, before it does: calls, tokens and their price. Reads only."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from heapq import nsmallest
from typing import Any, NamedTuple

from generation.batches import lots
from generation.grids.cells import GridCell, cells_about, check_setups
from generation.grids.grid_file import GridChoices, of_data
from generation.grids.material import materials
from generation.grids.prompts import PromptChoices, PromptMaker
from generation.grids.question_graphs import askable, removable, without_entities
from generation.models import (
    Dataset,
    Example,
    ExamplePassage,
    Grid,
    Passage,
    Response,
    Sample,
    SampledExample,
)
from generation.seeded_random import random_key
from generation.text.prompt_types import MOST_FACTS, Graph

MOST_PROMPTS = 20_000  # that are made to be counted; of more, a sample of the examples
TOGETHER = 200  # examples


class PlanRow(NamedTuple):
    """What would be asked of one model with prompts of one type; sums over its setups."""

    model: str
    precision: str
    prompt: str  # key of the type
    n_setups: int
    n_calls: int  # to be made
    n_there: int  # answered already: they are not made again
    # That have no such prompt: no golden evidence, the one-shot example itself, a part of the
    # recipe without a passage of its own, no question about a graph with such entities, or no
    # member of a minimum set to remove.
    n_left_out: int
    n_unmade: int  # of the calls: they would fail, because no prompt can be made
    n_prompt_tokens: int  # as `generation.text.tokens` counts
    n_completion_tokens: int  # at most
    cost: float | None  # at most; None: no price is known
    n_widened: int = 0  # of the calls: show more passages than the type says, all of them golden
    n_incomplete: int = 0  # of the calls: the graph does not have all entities of the question
    n_removing_less: int = 0  # of the calls: fewer members than that can be removed


class GridPlan(NamedTuple):
    """What a grid would ask. Tokens are estimated where fewer examples were counted than asked."""

    n_examples: int
    n_counted: int  # examples of each setup whose prompts were made to be counted, at most
    currency: str
    rows: tuple[PlanRow, ...]

    @property
    def is_estimated(self) -> bool:
        return self.n_counted < self.n_examples

    @property
    def total(self) -> PlanRow:
        """The sums over all rows; the cost is that of the models with a known price."""
        costs = [row.cost for row in self.rows if row.cost is not None]
        return _sum(self.rows)._replace(
            model="", precision="", prompt="", cost=sum(costs) if costs else None
        )

    def has_room_for(self, calls: Iterable[tuple[GridCell, int]]) -> bool:
        """Return whether no more calls are to be made now than were planned, row by row."""
        planned = {(row.model, row.precision, row.prompt): row.n_calls for row in self.rows}
        wanted: Counter[tuple[str, str, str]] = Counter()
        for cell, n_calls in calls:
            wanted[cell.spec.name, cell.spec.precision, cell.choices.type.key] += n_calls
        return all(n_calls <= planned.get(row, 0) for row, n_calls in wanted.items())

    def as_data(self) -> dict[str, Any]:
        """Return the plan as JSON has it: `plan_of` the other way round."""
        return self._asdict() | {"rows": [row._asdict() for row in self.rows]}


def plan_of(grid: Grid) -> GridPlan | None:
    """Return the plan of a grid; None: there is none yet."""
    if not grid.plan:
        return None
    return GridPlan(**grid.plan | {"rows": tuple(PlanRow(**row) for row in grid.plan["rows"])})


def planned(grid: Grid, on_batch: Callable[[], None] = lambda: None) -> GridPlan:
    """Return what a grid would ask, with what is there now.

    Args:
        on_batch: called now and then while prompts are made.

    Raises:
        GridError: a model cannot be asked, or a setup's name stands for something else.
        PromptError: prompts cannot be made.
    """
    wanted = of_data(grid.choices)
    all_cells = cells_about(grid.dataset, wanted)
    check_setups(grid.dataset, all_cells)
    asked = GridExamples(grid.dataset, examples_of(grid.dataset, grid.sample))
    counted, n_counted = _counted(all_cells, asked)
    to_count: dict[PromptChoices, dict[int, None]] = {}  # in order, each once
    for cell, examples in zip(all_cells, counted, strict=True):
        to_count.setdefault(cell.choices, {}).update(dict.fromkeys(examples))
    sizes = {
        choices: _sizes(grid.dataset, choices, list(examples), on_batch)
        for choices, examples in to_count.items()
    }
    counts = [
        _count(cell, asked, [sizes[cell.choices][pk] for pk in examples], wanted)
        for cell, examples in zip(all_cells, counted, strict=True)
    ]
    return GridPlan(len(asked.examples), n_counted, wanted.currency, _rows(counts))


def examples_of(dataset: Dataset, sample: Sample | None) -> dict[int, str]:
    """Return the examples that a grid asks about, id → key, in the order asked.

    Without a sample that is the benchmark: ad-hoc questions have samples of their own.
    """
    if sample is None:
        examples = Example.objects.of_benchmark().filter(dataset=dataset).order_by("pk")
        return dict(examples.values_list("pk", "key"))
    members = SampledExample.objects.filter(sample=sample).order_by("position")
    kept = members.exclude(verdict=SampledExample.Verdict.DROP)
    return dict(kept.values_list("example", "example__key"))


class GridExamples:
    """The examples that a grid asks about, and which of them it need not ask about."""

    def __init__(self, dataset: Dataset, examples: dict[int, str]) -> None:
        self.examples = examples
        self._dataset = dataset
        golden = ExamplePassage.objects.filter(example__dataset=dataset, is_golden=True)
        self._n_golden = Counter(golden.values_list("example", flat=True))
        self._setups = dict(dataset.setups.values_list("name", "pk"))

    def left_out(self, choices: PromptChoices) -> set[int]:
        """Return the examples that have no such prompt."""
        # Every passage has a place in a ranking: it ends at the same one for all examples.
        if choices.type.n_before and choices.type.n_before >= self._n_texts:
            return set(self.examples)
        if choices.type.graph:
            shown = self._about_graph[choices.type.graph]
            if choices.type.n_removed:
                shown = shown & self._removable.keys()
            return self.examples.keys() - shown
        needs_golden = choices.type.needs_golden
        left_out = {pk for pk in self.examples if needs_golden and not self._n_golden[pk]}
        if choices.type.is_one_shot and choices.one_shot:
            left_out |= {pk for pk, key in self.examples.items() if key == choices.one_shot}
        return left_out

    @cached_property
    def _about_graph(self) -> Mapping[Graph, set[int]]:
        return askable(self._dataset.pk)

    @cached_property
    def _without_entities(self) -> Mapping[Graph, set[int]]:
        return without_entities(self._dataset.pk)

    @cached_property
    def _removable(self) -> Mapping[int, int]:
        return removable(self._dataset.pk)

    @cached_property
    def _n_texts(self) -> int:
        """How many different texts the passages have, as far as that matters for prompts."""
        texts: set[str] = set()
        rows = Passage.objects.filter(dataset=self._dataset).values_list("text", flat=True)
        for text in rows.iterator(chunk_size=200):
            texts.add(text)
            if len(texts) == MOST_FACTS:
                break
        return len(texts)

    def there(self, cell: GridCell) -> set[int]:
        """Return the examples that have a response under a setup already."""
        setup = self._setups.get(cell.setup.name)
        if setup is None:
            return set()
        there = Response.objects.filter(setup=setup).values_list("example", flat=True)
        return self.examples.keys() & set(there)

    def widened(self, cell: GridCell) -> int:
        """Return how many of the examples to ask about have more golden passages than places."""
        kind = cell.choices.type
        if kind.evidence != "retrieved":
            return 0
        return sum(self._n_golden[pk] > kind.k for pk in self.to_ask(cell))

    def incomplete(self, cell: GridCell) -> int:
        """Return how many of the examples to ask about have entities that the graph has not."""
        graph = cell.choices.type.graph
        return len(self._without_entities[graph].intersection(self.to_ask(cell))) if graph else 0

    def removing_less(self, cell: GridCell) -> int:
        """Return how many of the examples to ask about lose fewer members than the type says.

        A budget may cut further ones.
        """
        n_removed = cell.choices.type.n_removed
        if not n_removed:
            return 0
        return sum(self._removable[pk] < n_removed for pk in self.to_ask(cell))

    def to_ask(self, cell: GridCell) -> list[int]:
        """Return the examples to ask about under a setup, in order."""
        not_asked = self.left_out(cell.choices) | self.there(cell)
        return [pk for pk in self.examples if pk not in not_asked]


def _counted(all_cells: Sequence[GridCell], asked: GridExamples) -> tuple[list[list[int]], int]:
    """Return by setup the examples whose prompts are counted, and of how many at most.

    These are all that are to be asked about; where that is too much, some of them that are drawn
    for each setup in the same order.
    """
    to_ask = [asked.to_ask(cell) for cell in all_cells]
    prompts: dict[PromptChoices, set[int]] = defaultdict(set)
    for cell, examples in zip(all_cells, to_ask, strict=True):
        prompts[cell.choices].update(examples)
    if sum(map(len, prompts.values())) <= MOST_PROMPTS:
        return to_ask, len(asked.examples)
    most = max(1, MOST_PROMPTS // len(all_cells))
    order = {
        pk: (random_key(0, "plan", example), example) for pk, example in asked.examples.items()
    }
    return [nsmallest(most, examples, key=order.__getitem__) for examples in to_ask], most


def _sizes(
    dataset: Dataset,
    choices: PromptChoices,
    counted: Sequence[int],
    on_batch: Callable[[], None],
) -> dict[int, int | None]:
    """Return the tokens of each example's prompt; None: none can be made."""
    maker = PromptMaker(dataset, choices)
    sizes: dict[int, int | None] = {}
    for batch in lots(counted, TOGETHER):
        for pk, made in zip(batch, maker.made(materials(batch)), strict=True):
            sizes[pk] = made.prompt.n_tokens if made.prompt else None
        on_batch()
    return sizes


def _count(
    cell: GridCell, asked: GridExamples, counted: Sequence[int | None], grid: GridChoices
) -> PlanRow:
    """Return what one setup would ask, from the sizes of all its prompts or of some.

    Args:
        counted: their tokens; None: no prompt can be made.
    """
    left_out, there = asked.left_out(cell.choices), asked.there(cell)
    n_calls = len(asked.examples) - len(left_out | there)
    made = [size for size in counted if size is not None]
    scale = n_calls / len(counted) if counted else 0.0
    n_unmade = round(scale * (len(counted) - len(made)))
    n_prompt_tokens = round(scale * sum(made))
    n_completion_tokens = (n_calls - n_unmade) * cell.decoding.max_tokens
    price = grid.price_of(cell.spec.name)
    return PlanRow(
        model=cell.spec.name,
        precision=cell.spec.precision,
        prompt=cell.choices.type.key,
        n_setups=1,
        n_calls=n_calls,
        n_there=len(there),
        n_left_out=len(left_out - there),
        n_unmade=n_unmade,
        n_prompt_tokens=n_prompt_tokens,
        n_completion_tokens=n_completion_tokens,
        cost=price.cost(n_prompt_tokens, n_completion_tokens) if price else None,
        n_widened=asked.widened(cell),
        n_incomplete=asked.incomplete(cell),
        n_removing_less=asked.removing_less(cell),
    )


def _rows(counts: Sequence[PlanRow]) -> tuple[PlanRow, ...]:
    """Return the sums by model and prompt type, in order of their first setups."""
    rows: dict[tuple[str, str, str], list[PlanRow]] = {}
    for count in counts:
        rows.setdefault((count.model, count.precision, count.prompt), []).append(count)
    return tuple(map(_sum, rows.values()))


def _sum(rows: Sequence[PlanRow]) -> PlanRow:
    """Return the sums of some rows; the cost is known where that of each is."""
    model, precision, prompt = rows[0][:3] if rows else ("", "", "")
    costs = [row.cost for row in rows if row.cost is not None]
    return PlanRow(
        model,
        precision,
        prompt,
        n_setups=sum(row.n_setups for row in rows),
        n_calls=sum(row.n_calls for row in rows),
        n_there=sum(row.n_there for row in rows),
        n_left_out=sum(row.n_left_out for row in rows),
        n_unmade=sum(row.n_unmade for row in rows),
        n_prompt_tokens=sum(row.n_prompt_tokens for row in rows),
        n_completion_tokens=sum(row.n_completion_tokens for row in rows),
        cost=sum(costs) if len(costs) == len(rows) else None,
        n_widened=sum(row.n_widened for row in rows),
        n_incomplete=sum(row.n_incomplete for row in rows),
        n_removing_less=sum(row.n_removing_less for row in rows),
    )
