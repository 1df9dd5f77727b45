"""The pages of trade-offs in every state that looks different, for the walk."""

from collections.abc import Iterator
from io import StringIO
from pathlib import Path

from django.core.management import call_command
from django.urls import reverse

from accounts.models import User
from evaluation.tradeoffs.axes import axes_of, usual
from evaluation.tradeoffs.material import material_of
from evaluation.tradeoffs.services.reranking import rerank
from evaluation.tradeoffs.services.saved_views import save_view
from generation.models import Grid
from tests.makers import example_row, import_rows, response_row
from tests.tradeoff_grid import synthetic_dataset
from tests.tradeoff_material import pools_of

FIGURES = range(1, 8)
PAGES = ("takeaways", "comparable", "restricted", "reranking", "recipe")


def tradeoff_pages(folder: Path, user: User) -> Iterator[tuple[str, str]]:
    """Yield name and address of each page."""
    listed = reverse("tradeoffs:tradeoffs")
    unscored = import_rows(
        folder / "unscored", "unscored", examples=[example_row()], responses=[response_row()]
    ).dataset
    assert unscored
    for page in ("tradeoff", *PAGES):
        yield f"{page}, no axes", reverse(f"tradeoffs:{page}", args=[unscored.slug])

    dataset = synthetic_dataset(folder / "synthetic", n_examples=6)
    axes = usual(axes_of(dataset))
    assert axes
    for pool in pools_of(material_of(dataset, axes)):
        for function in ("max-attribution", "sensible-first"):
            rerank(dataset, axes, pool.setups, function)
    save_view(dataset, "mill" * 20, "figure=2", user)
    figure = reverse("tradeoffs:tradeoff", args=[dataset.slug])
    yield "trade-offs", listed
    for number in FIGURES:
        yield f"figure {number}", f"{figure}?figure={number}"
    yield "figure, all on", f"{figure}?figure=1&intervals=on&labels=on&clusters=on&own=1"
    yield "figure, empty window", f"{figure}?x_from=0.01&x_to=0.02&y_from=0.01&y_to=0.02"
    yield "figure, not valid", f"{figure}?x_from=2&x_to=mill"
    # Long menus of setups, some of which are parts of analyses, have a filter.
    yield "new study of many setups", f"{reverse('annotation:new-study')}?dataset={dataset.slug}"
    yield "dataset of many setups", reverse("generation:dataset", args=[dataset.slug])
    setup = dataset.setups.order_by("name")[0]
    yield "behind a mark", reverse("tradeoffs:responses", args=[dataset.slug, setup.pk])
    for page in PAGES:
        yield page, reverse(f"tradeoffs:{page}", args=[dataset.slug])

    scorers = ["--attribution=auto_ais/lexical", "--sensibleness=sensible/heuristic"]
    recipe = ["--model=extractive", "--k1=3", "--k2=2", *scorers]
    call_command("run_recipe", dataset.name, *recipe, stdout=StringIO())
    done = Grid.objects.get(dataset=dataset)
    yield "recipe, done", reverse("tradeoffs:recipe-progress", args=[dataset.slug, done.pk])
