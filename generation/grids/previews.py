"""Prompts of one example as pages show them: one of them whole, all types by their size."""

from typing import NamedTuple

from generation.grids.material import materials
from generation.grids.prompts import MadePrompt, PromptChoices, PromptMaker, uses_index
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

# The recipe's is not of the twelve: the real ranking, with golden passages not forced.
PREVIEWED: tuple[PromptType, ...] = (*TWELVE, prompt_type("top-3"))
# Shown one at a time, beside those.
RESTRICTED_EVIDENCE: tuple[RestrictedEvidence, ...] = ("golden", "next-best")
RESTRICTED: tuple[PromptType, ...] = tuple(
    prompt_type(restricted_key(evidence, share))
    for evidence in RESTRICTED_EVIDENCE
    for share in SHARES
)

# What stands for a prompt that nobody should wait for.
NOT_INDEXED = "the passages are not indexed yet; index them on the dataset's page Retrieval"


class PromptPreview(NamedTuple):
    """One type's prompt of an example."""

    type: PromptType
    made: MadePrompt

    @property
    def n_widened(self) -> int:
        """How many passages it shows beyond those that its type says: so many are golden."""
        is_forced = self.type.evidence == "retrieved"
        return max(0, len(self.made.passages) - self.type.k) if is_forced else 0


def previews(example: Example, choices: PromptChoices) -> list[PromptPreview]:
    """Return an example's prompt of each type, with everything else as chosen.

    Those about a knowledge graph are for questions about one. The type that is chosen comes last
    where it is none of those always shown. Where the passages are many and not indexed, types that
    rank or draw have none.
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
