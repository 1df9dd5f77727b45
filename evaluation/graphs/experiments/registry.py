"""KaLMA's experiments by name, with what each asks, scores and needs of a dataset.

An experiment is a grid over a dataset, runs of metrics over its answers, and a report. Experiments
have no database table: their grids are found by prompts, and their runs by metrics.
"""

from collections.abc import Mapping
from typing import Literal, NamedTuple

from generation.text.prompt_types import Graph

Need = Literal["minimum sets", "gold entities"]
Asked = Literal["entailment", "judge"]  # the kind of model that an experiment's metrics ask

# The source of the sub-graphs that are shown → the prompt that shows them whole.
WHOLE: Mapping[Graph, str] = {
    "retrieved": "graph-retrieved",
    "imported": "graph-imported",
    "gold": "graph-gold",
}
N_SEEDED_RUNS = 3
SEEDS = tuple(range(N_SEEDED_RUNS))
SEVERAL_TEMPERATURES, ONE_TEMPERATURE = (0.1, 0.5, 0.9), (0.5,)
N_JUDGED = 100  # answers of each row of table 4 whose quality is judged


class KGExperiment(NamedTuple):
    """One experiment as the paper runs it. All but the prompts may be chosen differently."""

    key: str
    title: str
    lede: str
    source: str
    report: str  # key of its report, about a dataset (human alignment: about a study)
    prompts: tuple[str, ...]  # keys of prompt types; none: it asks no models itself
    temperatures: tuple[float, ...]
    seeds: tuple[int, ...]
    metrics: tuple[str, ...]  # keys of metrics whose runs its report reads
    needs: tuple[Need, ...] = ()  # what the dataset's questions must have
    asked: Asked = "entailment"
    n_judged: int | None = None  # answers of each row that are scored; None: all

    @property
    def has_grid(self) -> bool:
        """Whether it asks models. If not, it is about existing answers."""
        return bool(self.prompts)

    @property
    def has_choice_of_graph(self) -> bool:
        """Whether another graph than the usual one may be shown."""
        return self.prompts == (WHOLE["retrieved"],)

    def prompts_with(self, graph: Graph) -> tuple[str, ...]:
        """Return its prompts. They show the given graph if the experiment has that choice."""
        return (WHOLE[graph],) if self.has_choice_of_graph else self.prompts


_ALL = (
    KGExperiment(
        "citations",
        "Citation quality",
        "It shows correctness, precision, recall and alignment of citations, and what answers "
        "cost. Numbers are by model and temperature, as means of three seeded runs.",
        "KaLMA, table 3",
        "citation_table",
        (WHOLE["retrieved"],),
        SEVERAL_TEMPERATURES,
        SEEDS,
        ("alignment",),
    ),
    KGExperiment(
        "quality",
        "Text quality",
        "It shows coherence, consistency, fluency and relevance from 1 to 5, as a language model "
        "judges them.",
        "KaLMA, table 4",
        "quality_table",
        (WHOLE["retrieved"],),
        SEVERAL_TEMPERATURES,
        SEEDS,
        ("coherence", "consistency", "fluency", "relevance"),
        asked="judge",
        n_judged=N_JUDGED,
    ),
    KGExperiment(
        "removal",
        "Removed knowledge",
        "It shows citation quality and [NA] when 0 to 3 pieces of needed knowledge are removed "
        "from the graph shown.",
        "KaLMA, table 5 and figure 4",
        "removal",
        (WHOLE["gold"], *(f"graph-gold-minus-{n}" for n in (1, 2, 3))),
        ONE_TEMPERATURE,
        SEEDS,
        ("incompetence",),
        ("minimum sets", "gold entities"),
    ),
    KGExperiment(
        "accuracy",
        "Retrieval accuracy",
        "It shows citation quality when 0 to 80 % of the sub-graphs shown are replaced by wrong "
        "ones.",
        "KaLMA, figure 5",
        "accuracy",
        (WHOLE["gold"], *(f"graph-accuracy-{percent}" for percent in (80, 60, 40, 20))),
        ONE_TEMPERATURE,
        SEEDS,
        (),
        ("minimum sets", "gold entities"),
    ),
    KGExperiment(
        "alignment",
        "Human alignment",
        "It shows whether sentences say what their citations claim. Two people and the automatic "
        "metric judge the same pairs.",
        "KaLMA, table 6",
        "human_alignment",
        (),
        (),
        (),
        ("alignment",),
    ),
)
EXPERIMENTS: Mapping[str, KGExperiment] = {each.key: each for each in _ALL}
