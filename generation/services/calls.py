"""The rows of a call of a language model: the call itself, and its response."""

from typing import Any, NamedTuple

from generation.backends.base import Completion
from generation.grids.material import ExampleMaterial
from generation.grids.prompt_choices import form_of
from generation.grids.prompts import MadePrompt
from generation.models import Call, GridChunk, Response, Setup
from generation.records import ResponseRecord, SetupRecord, Where
from generation.services.record_keys import digest, record_digest
from generation.text.debris import debris_in
from generation.text.dialog_forms import reply_text
from generation.text.dialog_prompts import BuiltPrompt
from generation.text.graph_prompts import said_about_graph
from generation.text.prompt_types import is_about_graph
from generation.text.tokens import count_tokens

NOTHING = Completion()  # stands for a model that was not asked
LONGEST_KEY = 200  # characters of a response's key


class PendingCall(NamedTuple):
    """An example with its prompt, for one call of a model."""

    material: ExampleMaterial
    made: MadePrompt


def call_of(
    claim: GridChunk,
    asked: PendingCall,
    completion: Completion = NOTHING,
    problem: str = "",
    seconds: float | None = None,
) -> Call:
    """Return the row of a call that is not stored yet.

    If a model does not report how many tokens it made, they are counted in the same way as those of
    prompts.

    Args:
        problem: why there is no response; an empty text counts as a response.
        seconds: the time waited for the completion; None: no model was asked.
    """
    sizes: dict[str, int] = {}
    prompt = asked.made.prompt
    if prompt is not None:
        sizes = {
            name: getattr(prompt, name)
            for name in (
                "n_dialog_tokens",
                "n_evidence_tokens",
                "n_instruction_tokens",
                "n_tokens",
                "n_turns_left_out",
                "n_sentences_left_out",
            )
        }
    return Call(
        grid_id=claim.grid_id,
        setup_id=claim.setup_id,
        example_id=asked.material.id,
        problem=problem,
        prompt=prompt.text if prompt else "",
        completion=storable_text(completion.whole),
        n_model_prompt_tokens=completion.n_prompt_tokens,
        n_model_completion_tokens=completion.n_tokens or count_tokens(completion.whole),
        is_cut=completion.is_cut,
        is_debris=None if problem else _is_debris(claim.setup, completion),
        seconds=seconds,
        **sizes,
    )


def response_of(
    claim: GridChunk, asked: PendingCall, completion: Completion, keys: dict[int, str]
) -> Response:
    """Return the row of a response that is not stored yet.

    A response about a knowledge graph holds the triples of its prompt, and those that were removed
    from them. No passage was shown then.
    """
    setup, prompt, graph = claim.setup, asked.made.prompt, asked.made.graph
    removed = asked.made.removed
    assert prompt is not None  # only prompts are asked
    record = ResponseRecord(
        where=Where("", 0),
        key=response_key(asked.material.key, setup.name),
        example=asked.material.key,
        setup=SetupRecord(
            setup.name, setup.model, setup.temperature, setup.prompt, setup.run, setup.settings
        ),
        text=_said(setup, completion),
        evidence_shown=tuple(keys[passage] for passage in asked.made.passages),
        graph_shown=graph,
        removed=removed,
        meta=_meta(asked.made, prompt),
    )
    return Response(
        example_id=asked.material.id,
        setup=setup,
        dataset_id=setup.dataset_id,
        key=record.key,
        text=record.text,
        is_evidence_stated=True,
        graph_shown=graph,
        removed=removed,
        meta=record.meta,
        digest=record_digest(record),
    )


def _said(setup: Setup, completion: Completion) -> str:
    """Return a model's reply: its completion up to the point where such prompts end it."""
    text = storable_text(completion.text)
    if is_about_graph(setup.prompt):
        return said_about_graph(text)
    return reply_text(text, form_of(setup))


def _is_debris(setup: Setup, completion: Completion) -> bool:
    """Return whether a reply goes on with its prompt's form. Citations are of numbers and marks."""
    if is_about_graph(setup.prompt):
        return False
    return debris_in(_said(setup, completion)) is not None


def _meta(made: MadePrompt, prompt: BuiltPrompt) -> dict[str, Any]:
    """Return the data that a response is exported with: the prompt's size, and what had no room.

    For restricted context, this includes the shares of dialog and evidence that are really shown.
    """
    meta: dict[str, Any] = {
        "tokens": {
            "dialog": prompt.n_dialog_tokens,
            "evidence": prompt.n_evidence_tokens,
            "instructions": prompt.n_instruction_tokens,
            "total": prompt.n_tokens,
        }
    }
    if made.shares:
        meta["shares"] = made.shares._asdict()
    if prompt.n_sentences_left_out:
        meta["evidence"] = {"sentences_left_out": prompt.n_sentences_left_out}
    if prompt.n_turns_left_out:
        meta["dialog"] = {"turns_left_out": prompt.n_turns_left_out}
    of_graph = {
        "triples_left_out": prompt.n_triples_left_out,
        "entities_missing": prompt.n_missing_entities,
        "members_not_shown": made.n_not_in_graph,
    }
    if any(of_graph.values()):
        meta["graph"] = {name: n for name, n in of_graph.items() if n}
    return meta


def response_key(example_key: str, name_of_setup: str) -> str:
    """Return the key of a response made here, from its example and its setup."""
    key = f"{example_key}|{digest(name_of_setup)[:16]}"
    if len(key) <= LONGEST_KEY:
        return key
    return f"{digest(example_key)}|{digest(name_of_setup)[:16]}"


def storable_text(text: str) -> str:
    """Return a text as databases can store it: without NUL, '?' for what UTF-8 cannot encode."""
    return text.replace("\0", "").encode("utf-8", "replace").decode("utf-8")
