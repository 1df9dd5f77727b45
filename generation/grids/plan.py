"""The plan of a grid: its calls, their tokens and their price. This module only reads."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from heapq import nsmallest
from typing import Any, NamedTuple

from generation.backends.registry import LANGUAGE_MODELS
from generation.batches import lots
from generation.grids.cells import GridCell, cells_about, check_setups
from generation.grids.grid_file import GridChoices, of_data
from generation.grids.material import materials
from generation.grids.progress import calls_per_second
from generation.grids.prompt_choices import PromptChoices
from generation.grids.prompts import PromptMaker
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

MOST_PROMPTS = 20_000  # prompts made for counting; if more are needed, examples are sampled
TOGETHER = 200  # examples


class PlanRow(NamedTuple):
    """The calls to one model with prompts of one type and form, summed over their setups."""

    model: str
    precision: str
    prompt: str  # key of the prompt type
    n_setups: int
    n_calls: int  # calls to make
    n_there: int  # examples answered already, for which no call is made
    # Examples that have no such prompt: no golden evidence, the one-shot example itself, a part of
    # the recipe without a passage of its own, no question about a graph with such entities, or no
    # member of a minimum set to remove.
    n_left_out: int
    n_unmade: int  # calls that would fail, because no prompt can be made
    n_prompt_tokens: int  # counted by `generation.text.tokens`
    n_completion_tokens: int  # at most
    cost: float | None  # at most; None: no price is known
    n_widened: int = 0  # calls that show more passages than the type says, all of them golden
    n_incomplete: int = 0  # calls whose question has entities that are not in the graph
    n_removing_less: int = 0  # calls for which fewer members can be removed than the type says
    form: str = "native"  # the form of the dialogs in its prompts; "" in sums

    @property
    def kind(self) -> tuple[str, str, str, str]:
        """The values that its setups have in common."""
        return self.model, self.precision, self.prompt, self.form


class GridPlan(NamedTuple):
    """The plan of a grid. Tokens are estimated if fewer examples were counted than asked about."""

    n_examples: int
    n_counted: int  # examples of each setup, at most, whose prompts were counted
    currency: str
    rows: tuple[PlanRow, ...]
    # At the speed of the newest grids that asked one of these models alone; None: not known.
    seconds: float | None = None

    @property
    def is_estimated(self) -> bool:
        return self.n_counted < self.n_examples

    @property
    def total(self) -> PlanRow:
        """The sums over all rows; the cost includes only models with a known price."""
        costs = [row.cost for row in self.rows if row.cost is not None]
        return _sum(self.rows)._replace(
            model="", precision="", prompt="", form="", cost=sum(costs) if costs else None
        )

    def has_room_for(self, calls: Iterable[tuple[GridCell, int]]) -> bool:
        """Return whether no more calls are to be made now than were planned, in any row."""
        planned = {row.kind: row.n_calls for row in self.rows}
        wanted: Counter[tuple[str, str, str, str]] = Counter()
        for (_, spec, choices, _), n_calls in calls:
            wanted[spec.name, spec.precision, choices.type.key, choices.form] += n_calls
        return all(n_calls <= planned.get(row, 0) for row, n_calls in wanted.items())

    def as_data(self) -> dict[str, Any]:
        """Return the plan as JSON data: the reverse of `plan_of`."""
        return self._asdict() | {"rows": [row._asdict() for row in self.rows]}


def plan_of(grid: Grid) -> GridPlan | None:
    """Return the plan that is stored for a grid; None: there is none yet."""
    if not grid.plan:
        return None
    return GridPlan(**grid.plan | {"rows": tuple(PlanRow(**row) for row in grid.plan["rows"])})


def needs_yes(grid: Grid) -> bool:
    """Return whether a grid asks a model, and so costs money or time."""
    names = [model["name"] for model in grid.choices["models"]]
    return any(name not in LANGUAGE_MODELS or LANGUAGE_MODELS[name].needs_model for name in names)


def planned(grid: Grid, on_batch: Callable[[], None] = lambda: None) -> GridPlan:
    """Return the plan of a grid, given the responses that exist now.

    Args:
        on_batch: a function that is called now and then while prompts are made.

    Raises:
        GridError: a model cannot be asked, or a setup of the same name has other content.
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
    rows = _rows(counts)
    return GridPlan(len(asked.examples), n_counted, wanted.currency, rows, _seconds(rows))


def examples_of(dataset: Dataset, sample: Sample | None) -> dict[int, str]:
    """Return the examples that a grid asks about, id → key, in the order of asking.

    Without a sample these are the examples of the benchmark: ad-hoc questions have samples of their
    own.
    """
    if sample is None:
        examples = Example.objects.of_benchmark().filter(dataset=dataset).order_by("pk")
        return dict(examples.values_list("pk", "key"))
    members = SampledExample.objects.filter(sample=sample).order_by("position")
    kept = members.exclude(verdict=SampledExample.Verdict.DROP)
    return dict(kept.values_list("example", "example__key"))


class GridExamples:
    """The examples that a grid asks about, and those among them that need no call."""

    def __init__(self, dataset: Dataset, examples: dict[int, str]) -> None:
        self.examples = examples
        self._dataset = dataset
        golden = ExamplePassage.objects.filter(example__dataset=dataset, is_golden=True)
        self._n_golden = Counter(golden.values_list("example", flat=True))
        self._setups = dict(dataset.setups.values_list("name", "pk"))

    def left_out(self, choices: PromptChoices) -> set[int]:
        """Return the examples that have no prompt with these choices."""
        # Every passage has a place in a ranking, so the ranking has the same length for all
        # examples.
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
        """The number of different texts of the passages, counted up to `MOST_FACTS`."""
        texts: set[str] = set()
        rows = Passage.objects.filter(dataset=self._dataset).values_list("text", flat=True)
        for text in rows.iterator(chunk_size=200):
            texts.add(text)
            if len(texts) == MOST_FACTS:
                break
        return len(texts)

    def there(self, cell: GridCell) -> set[int]:
        """Return the examples that already have a response under a setup."""
        setup = self._setups.get(cell.setup.name)
        if setup is None:
            return set()
        there = Response.objects.filter(setup=setup).values_list("example", flat=True)
        return self.examples.keys() & set(there)

    def widened(self, cell: GridCell) -> int:
        """Return how many examples to ask about have more golden passages than places."""
        kind = cell.choices.type
        if kind.evidence != "retrieved":
            return 0
        return sum(self._n_golden[pk] > kind.k for pk in self.to_ask(cell))

    def incomplete(self, cell: GridCell) -> int:
        """Return how many examples to ask about have entities that the graph does not have."""
        graph = cell.choices.type.graph
        return len(self._without_entities[graph].intersection(self.to_ask(cell))) if graph else 0

    def removing_less(self, cell: GridCell) -> int:
        """Return how many examples to ask about lose fewer members than the type says.

        A budget may leave even fewer members to remove; this is not counted here.
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
    """Return, for each setup, the examples whose prompts are counted, and the most for a setup.

    These are all examples to ask about. If they are too many, some of them are drawn, in the same
    order for each setup.
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
    """Return the tokens of each example's prompt; None: no prompt can be made."""
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
    """Return the plan of one setup, from the sizes of all its prompts or of some.

    Args:
        counted: the tokens of each prompt; None: no prompt can be made.
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
        form=cell.choices.form,
    )


def _seconds(rows: Sequence[PlanRow]) -> float | None:
    """Return how long calls take, one model after the other; None: not known."""
    n_calls: Counter[str] = Counter()
    for row in rows:
        n_calls[row.model] += row.n_calls
    speeds = {model: calls_per_second(model) for model, n in n_calls.items() if n}
    if not all(speeds.values()):
        return None
    return sum(n_calls[model] / speed for model, speed in speeds.items() if speed)


def _rows(counts: Sequence[PlanRow]) -> tuple[PlanRow, ...]:
    """Return the sums by kind, in the order of their first setups."""
    rows: dict[tuple[str, str, str, str], list[PlanRow]] = {}
    for count in counts:
        rows.setdefault(count.kind, []).append(count)
    return tuple(map(_sum, rows.values()))


def _sum(rows: Sequence[PlanRow]) -> PlanRow:
    """Return the sums of some rows; the cost is known if it is known for each row."""
    model, precision, prompt, form = rows[0].kind if rows else ("", "", "", "native")
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
        form=form,
    )
