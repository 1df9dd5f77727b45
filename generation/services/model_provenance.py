"""The provenance of a setup's responses: noted at the first one, and the same for all."""

from typing import Any

from django.db import transaction

from generation.backends.base import LanguageModel
from generation.backends.registry import open_language_model
from generation.grids.question_graphs import graph_mark
from generation.model_specs import BackendError, ModelSpec
from generation.models import GridChunk, Setup
from generation.services.checkpoints import known_size, pin_revision
from generation.text.prompt_types import is_about_graph
from work.claims import with_a_worker

LONGEST_DEVICE = 100


def open_noted(setup: Setup, spec: ModelSpec, retrieval: str = "") -> LanguageModel:
    """Open a setup's model, and note what its responses are made with.

    Args:
        retrieval: the signature of the passages or the graph that prompts show, and of their
            choice; "" for neither.

    Raises:
        BackendError: the model cannot be used, the setup's graph has changed, or earlier responses
            were made with something else.
    """
    if (said := setup.settings.get("graph", "")) and said != graph_mark(retrieval):
        raise BackendError(
            f"{setup.name}: the graph, or how it is searched, has changed since this grid was "
            "started. Start a new grid: its setups have the graph as it is now."
        )
    model = open_language_model(spec)
    made_with = what_it_is(spec, model)
    if retrieval:
        made_with["retrieval"] = retrieval
    if _note(setup, spec, made_with):
        pin_revision(spec.name, model.revision)
    return model


@transaction.atomic
def _note(setup: Setup, spec: ModelSpec, made_with: dict[str, Any]) -> bool:
    """Note what a setup's responses are made with; return whether they are its first.

    Raises:
        BackendError: there are earlier responses, which were made with something else.
    """
    locked = Setup.objects.select_for_update(no_key=True).get(pk=setup.pk)
    earlier = {} if _is_free(locked) else locked.made_with
    if not earlier:
        if locked.responses.exists():
            raise BackendError(
                f"{setup.name}: its responses were imported, and it is not known what they were "
                "made with. Use a model with another name, so that the responses do not mix."
            )
        size = known_size(spec, made_with["revision"])
        locked.made_with = {**made_with, **({"n_parameters": size} if size else {})}
    elif (before := earlier.get("retrieval")) != (here := made_with.get("retrieval")):
        others = "another graph" if is_about_graph(setup.prompt) else "other passages"
        raise BackendError(
            f"{setup.name}: its responses were made with {others} ({before or 'unknown'}) "
            f"than the dataset has now ({here}). Import what was added as a separate dataset, so "
            "that the responses do not mix."
        )
    elif (was := provenance_text(earlier)) != (now := provenance_text(made_with)):
        raise BackendError(
            f"{setup.name}: its responses were made with {was}, but the model here is now {now}. "
            "Put the earlier model back and resume, or list the new model with another name."
        )
    else:
        devices = earlier.get("device", "").split(", ")
        if made_with["device"] in devices:
            return False
        both = ", ".join([*filter(None, devices), made_with["device"]])
        locked.made_with = earlier | {"device": both[:LONGEST_DEVICE]}
    locked.save(update_fields=["made_with"])
    return not earlier


def _is_free(setup: Setup) -> bool:
    """Return whether a setup may be made with anything: no response, and one worker at most."""
    n_at_it = GridChunk.objects.filter(with_a_worker(), setup=setup).count()
    return n_at_it <= 1 and not setup.responses.exists()


def what_it_is(spec: ModelSpec, model: LanguageModel) -> dict[str, Any]:
    """Return the data to note about a model that was opened."""
    return {
        "backend": spec.backend,
        "signature": model.signature,
        "revision": model.revision,
        "files": model.files,
        "device": model.device,
    }


def provenance_text(made_with: dict[str, Any]) -> str:
    """Return a text that distinguishes one model from another; the device is not part of it."""
    parts = [made_with.get("backend", ""), made_with.get("signature", "")]
    if revision := made_with.get("revision"):
        parts.append(f"revision {revision}")
    return ", ".join(parts)
