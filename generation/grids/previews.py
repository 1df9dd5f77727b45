"""Prompts of one example as pages show them: one prompt whole, and all types with their size."""

from typing import NamedTuple

from generation.grids.material import materials
from generation.grids.prompt_choices import PromptChoices, uses_index
from generation.grids.prompts import MadePrompt, PromptMaker
from generation.models import Example, KGQuestion, Passage
from generation.retrieval.dataset_index import can_wait_for_index
from generation.text.prompt_types import (
    GRAPHS,
    SHARES,
    TWELVE,
    PromptType,
    RestrictedEvidence,
    prompt_type,
    restricted_key,
)

# The recipe's type is not one of the twelve: it shows the real ranking, and golden passages are not
# forced into it.
PREVIEWED: tuple[PromptType, ...] = (*TWELVE, prompt_type("top-3"))
# Types of which pages show one at a time, beside those above.
RESTRICTED_EVIDENCE: tuple[RestrictedEvidence, ...] = ("golden", "next-best")
RESTRICTED: tuple[PromptType, ...] = tuple(
    prompt_type(restricted_key(evidence, share))
    for evidence in RESTRICTED_EVIDENCE
    for share in SHARES
)

# The problem of a prompt for which a page would have to wait too long.
NOT_INDEXED = "the passages are not indexed yet; index them on the dataset's page Retrieval"


class PromptPreview(NamedTuple):
    """The prompt of an example with one type."""

    type: PromptType
    made: MadePrompt

    @property
    def n_widened(self) -> int:
        """The number of passages shown beyond the type's own number, because so many are golden."""
        is_forced = self.type.evidence == "retrieved"
        return max(0, len(self.made.passages) - self.type.k) if is_forced else 0


def previews(example: Example, choices: PromptChoices) -> list[PromptPreview]:
    """Return an example's prompt of each type, with everything else as chosen.

    Types about a knowledge graph are only for questions about one. The chosen type comes last,
    unless it is one of those always shown. If the passages are many and not indexed, types that
    rank or draw passages have no prompt.
    """
    material = materials([example.pk])
    is_indexed = can_wait_for_index(example.dataset_id)

    def made(kind: PromptType) -> MadePrompt:
        if uses_index(kind) and not is_indexed:
            return MadePrompt(None, (), NOT_INDEXED)
        return PromptMaker(example.dataset, choices._replace(type=kind)).made(material)[0]

    about_graph = GRAPHS if asks_about_graph(example) else ()
    kinds = dict.fromkeys((*about_graph, *PREVIEWED, choices.type))
    return [PromptPreview(kind, made(kind)) for kind in kinds]


def asks_about_graph(example: Example) -> bool:
    """Return whether an example is a question about a knowledge graph."""
    return KGQuestion.objects.filter(example=example).exists()


class ShownPassage(NamedTuple):
    """A passage that a prompt shows, whole or in part."""

    key: str
    is_golden: bool


def shown_passages(example: Example, made: MadePrompt) -> list[ShownPassage]:
    """Return the passages of an example's prompt, in the order shown."""
    keys = dict(Passage.objects.filter(pk__in=made.passages).values_list("pk", "key"))
    golden = set(example.evidence.filter(is_golden=True).values_list("passage", flat=True))
    return [ShownPassage(keys[passage], passage in golden) for passage in made.passages]
