"""The material of a dataset, which decides what types of prompts its examples can have."""

from typing import NamedTuple

from django.db.models import Exists, OuterRef, QuerySet

from generation.grids.question_graphs import askable
from generation.models import Dataset, ExamplePassage, Passage
from generation.text.prompt_types import GRAPHS, TWELVE, PromptType


class DatasetMaterial(NamedTuple):
    """The material of a dataset that prompts may show."""

    about_graph: tuple[str, ...] = ()  # the types of prompts about a graph that some example has
    has_passages: bool = False
    has_golden: bool = False  # whether some example has golden evidence

    def allows(self, kind: PromptType) -> bool:
        """Return whether some example may have a prompt of a type that is about no graph."""
        return (self.has_golden or not kind.needs_golden) and (
            self.has_passages or not kind.shows_passages
        )

    @property
    def usual_prompts(self) -> tuple[str, ...]:
        """The prompt types of a new grid."""
        return self.about_graph or tuple(kind.key for kind in TWELVE if self.allows(kind))


def material_of(datasets: QuerySet[Dataset]) -> DatasetMaterial:
    """Return the material of the first of some datasets, by two queries. Without one: nothing."""
    golden = ExamplePassage.objects.filter(
        example__dataset=OuterRef("pk"), example__is_ad_hoc=False, is_golden=True
    )
    has_passages = Exists(Passage.objects.filter(dataset=OuterRef("pk")))
    row = datasets.values_list("pk", has_passages, Exists(golden)).first()
    if row is None:
        return DatasetMaterial()
    dataset, *there = row
    by_graph = askable(dataset)
    about_graph = tuple(each.key for each in GRAPHS if each.graph and by_graph[each.graph])
    return DatasetMaterial(about_graph, *there)
