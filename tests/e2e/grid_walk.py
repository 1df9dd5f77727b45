"""The pages of grids, prompts and retrieval in every state that looks different, for the walk."""

from collections.abc import Iterator
from pathlib import Path

from django.urls import reverse

from generation.models import Grid
from generation.services.grids import cancel_grid
from tests.generation.grid_runs import (
    done,
    failed_in_part,
    planned,
    requested,
    started,
    valley,
    work,
)
from tests.makers import import_path

RANKING = "dense-" * 16  # a long name


def grid_pages(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield name and address of each page, with rows such as workers leave them."""
    listed, new = reverse("grids:grids"), reverse("grids:new")
    yield "grids, none", listed
    dataset = valley(folder, 12)
    slug = dataset.slug
    yield "new grid", new
    yield "new grid, from a file", reverse("grids:new-file")
    ended = done(dataset, name="ended", temperatures=[0.0, 0.7])
    running = started(dataset, name="running " + "mill" * 20, seeds=[1, 2], temperatures=[0.5])
    stopped = started(dataset, name="stopped", budget=70)
    cancel_grid(stopped, None)
    broken = requested(dataset, name="broken")
    error = "entailment: no such model; expected one of extractive"
    Grid.objects.filter(pk=broken.pk).update(state="failed", error=error)
    grids = {
        "planning": requested(dataset, name="planning"),
        "planned": planned(dataset, name="planned", budget=80),
        "running": work(running, 1),
        "cancelled": stopped,
        "failed": broken,
        "failed in part": failed_in_part(dataset),
        "done": ended,
    }
    yield "grids", listed
    yield "grids, sorted", f"{listed}?sort=calls&dataset={slug}"
    yield "grids, none found", f"{listed}?q=no+such+grid"
    for state, grid in grids.items():
        yield f"grid, {state}", reverse("grids:grid", args=[grid.pk])
    yield "calls", reverse("grids:calls", args=[ended.pk])
    yield "calls, failed", reverse("grids:calls", args=[grids["failed in part"].pk])
    for name, grid in (("call", ended), ("call, failed", grids["failed in part"])):
        last = grid.calls.order_by("-pk")[0]
        yield name, reverse("grids:call", args=[grid.pk, last.pk])
    made = ended.calls.exclude(response=None)[0]
    yield "response of a grid", reverse("evaluation:response", args=[slug, made.response_id])
    yield "prompts", reverse("generation:prompts", args=[slug, made.example_id])
    yield "retrieval", reverse("evaluation:retrieval", args=[slug])
    yield "what retrieval misses", reverse("evaluation:missed-examples", args=[slug])
    (folder / "dense.run").write_text(f"e1 Q0 p2 1 2 {RANKING}\ne2 Q0 p2 1 2 {RANKING}\n", "utf-8")
    import_path(folder / "dense.run", dataset.name)
    for name in ("retrieval", "missed-examples"):
        page = reverse(f"evaluation:{name}", args=[slug])
        yield f"{name} of a ranking", f"{page}?ranking={RANKING}"
