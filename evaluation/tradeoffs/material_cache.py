"""The data of trade-off pages, cached until something changes them. This module only reads.

A version is computed without reading every response or vote. Responses are added and deleted, but
never changed. Scores are changed: each is multiplied by its id before they are summed, so that an
exchange of two scores is noticed as well.
"""

import hashlib
import json
from collections.abc import Callable
from typing import Any, TypeVar

from django.db.models import Count, F, Max, Sum

from annotation.models import Study
from evaluation.models import AutoScore, MetricRun
from evaluation.reports.cache import OF_RUN, cached, runs_version, votes_version
from evaluation.tradeoffs.axes import Axes
from evaluation.tradeoffs.curve_recalls import measured_recalls
from evaluation.tradeoffs.material import NO_RESPONSE, TradeoffMaterial, material_of
from evaluation.tradeoffs.recall_lines import Curves
from evaluation.tradeoffs.recalls import Recalls
from generation.models import Dataset

# All columns on which the names and methods of an axis depend.
OF_AXIS = (*OF_RUN, "backend", "backend_signature", "is_imported", "model_files")
MOST_BYTES = 32 * 2**20  # most bytes of a material that is cached

T = TypeVar("T")


def cached_on_axes(
    dataset: Dataset,
    what: str,
    make: Callable[[], T],
    *,
    axes: Axes,
    is_small: Callable[[T], bool] = lambda made: True,
) -> T:
    """Return what is made from a dataset's responses, scores and votes, cached until they change.

    Args:
        what: a name of the result, with every choice in it.
        axes: the axes that the result is made from.
        is_small: whether the cache has room for the result; one that is too large is made each
            time.
    """
    said = json.dumps([what, [axis.key for axis in axes]])
    return cached(dataset, said, make, version=version_of(dataset, axes), is_small=is_small)


def cached_material(dataset: Dataset, axes: Axes) -> TradeoffMaterial:
    """Return the material of a dataset, from the cache if nothing has changed since."""

    def is_small(material: TradeoffMaterial) -> bool:
        arrays = (material.responses, material.labels, material.scores, material.example_ids)
        return sum(array.nbytes for array in arrays) <= MOST_BYTES

    return cached_on_axes(
        dataset, "material", lambda: material_of(dataset, axes), axes=axes, is_small=is_small
    )


def cached_recalls(material: TradeoffMaterial, curves: Curves, k: int) -> Recalls | None:
    """Return the recalls that are measured for curves, cached until the passages change."""
    dataset = material.dataset
    answered = material.responses[list(curves.places)] != NO_RESPONSE
    examples = material.example_ids[answered.any(axis=0)]
    passages = dataset.passages.aggregate(n=Count("pk"), last=Max("pk"))
    return cached(
        dataset,
        f"recall@{k} of {curves.pair} over {hashlib.sha256(examples.tobytes()).hexdigest()}",
        lambda: measured_recalls(material, curves, k),
        version=str(passages),
    )


def version_of(dataset: Dataset, axes: Axes | None = None) -> str:
    """Return a digest that changes whenever results that are made from these axes may change."""
    runs = MetricRun.objects.filter(dataset=dataset)
    studies = Study.objects.filter(dataset=dataset)
    if axes is not None:
        runs = runs.filter(pk__in=[axis.run.pk for axis in axes if axis.run])
        studies = studies.filter(pk__in={axis.arm.study_id for axis in axes if axis.arm})
    of_runs = runs_version(runs, OF_AXIS)
    ids = [of_run[0] for of_run in of_runs]
    scores = AutoScore.objects.filter(run__in=ids).order_by("run").values_list("run")
    columns = ("name", "model", "temperature", "prompt", "run", "settings", "made_with")
    sized = dataset.setups.with_listed_size().order_by("pk")
    setups = sized.values_list("pk", *columns, "listed_size")
    responses = dataset.responses.order_by().aggregate(n=Count("pk"), last=Max("pk"))
    examples = dataset.examples.order_by().aggregate(n=Count("pk"), last=Max("pk"))
    parts: list[Any] = [
        [dataset.name, dataset.slug],
        list(setups),
        [responses, examples],
        of_runs,
        list(scores.annotate(n=Count("pk"), last=Max("pk"), sum=Sum(F("score") * F("pk")))),
        [votes_version(study) for study in studies.order_by("pk")],
    ]
    content = json.dumps(parts, default=str, sort_keys=True)
    return hashlib.sha256(content.encode()).hexdigest()
