"""The material: datasets, knowledge graphs, setups and responses."""

from generation.models.checkpoints import Checkpoint
from generation.models.constructions import (
    LAST_ROUND,
    SIMPLE_STYLE,
    ConstructedDataset,
    Construction,
    ConstructionCall,
    ConstructionEntry,
)
from generation.models.datasets import (
    Dataset,
    Example,
    ExamplePassage,
    Import,
    Passage,
    SavedMapping,
    Turn,
)
from generation.models.graphs import (
    Alias,
    Entity,
    KGQuestion,
    MinimumTriple,
    QuestionEntity,
    Triple,
)
from generation.models.grids import Call, Grid, GridChunk, GridSetup, Planning
from generation.models.rankings import RankedPassage, Ranking
from generation.models.samples import ASKED, IS_ASKED, Sample, SampledExample
from generation.models.setups import (
    RERANKED,
    SAYS_NOTHING,
    Citation,
    Response,
    ResponsePassage,
    Setup,
)

__all__ = [
    "ASKED",
    "IS_ASKED",
    "LAST_ROUND",
    "RERANKED",
    "SAYS_NOTHING",
    "SIMPLE_STYLE",
    "Alias",
    "Call",
    "Checkpoint",
    "Citation",
    "ConstructedDataset",
    "Construction",
    "ConstructionCall",
    "ConstructionEntry",
    "Dataset",
    "Entity",
    "Example",
    "ExamplePassage",
    "Grid",
    "GridChunk",
    "GridSetup",
    "Import",
    "KGQuestion",
    "MinimumTriple",
    "Passage",
    "Planning",
    "QuestionEntity",
    "RankedPassage",
    "Ranking",
    "Response",
    "ResponsePassage",
    "Sample",
    "SampledExample",
    "SavedMapping",
    "Setup",
    "Triple",
    "Turn",
]
