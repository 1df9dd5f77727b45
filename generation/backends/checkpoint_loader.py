"""The loading of checkpoints for the transformers library, from whole files only."""

import os
import re
from pathlib import Path
from typing import Any, NamedTuple

from celery import current_task

from generation.backends.memory import free_memory
from generation.backends.model_files import check_memory, first_line, model_files
from generation.model_specs import BackendError, ModelSpec

# In these models the first position comes after the padding token's, so two positions have no use.
_POSITIONS_AFTER_PADDING = re.compile(r"roberta|camembert|longformer|mpnet|data2vec|xmod")


class Loaded(NamedTuple):
    """A model that is ready to be asked, its tokenizer, and what they were loaded from."""

    model: Any
    tokenizer: Any
    device: str  # "cpu", or "cuda: " and the name of the card
    revision: str
    files: dict[str, str]


def load(spec: ModelSpec, auto_class: str, made_for: str) -> Loaded:
    """Load a checkpoint, onto a graphics card if there is one.

    Args:
        auto_class: a class of the transformers library: 'AutoModelForSequenceClassification'.
        made_for: what the checkpoint must have been fine-tuned for, in words.

    Raises:
        BackendError: the checkpoint is missing, not whole, of another kind, or too large for
            memory.
    """
    import torch

    if spec.precision not in ("fp32", "bf16"):
        raise BackendError(
            f"{spec.location}: found the precision {spec.precision}; expected fp32 or bf16"
        )
    found = model_files(spec)
    share_cores()
    if torch.cuda.is_available():
        name = torch.cuda.get_device_name()
        device, words, free = "cuda", f"cuda: {name}", torch.cuda.mem_get_info()[0]
        check_memory(found.folder, spec.precision, spec.location, free, name)
    else:
        device = words = "cpu"
        check_memory(found.folder, spec.precision, spec.location, free_memory(), "this machine")
    tokenizer, model = _from_files(found.folder, spec, auto_class, made_for)
    try:
        model = model.to(device).eval()
    except torch.OutOfMemoryError as exc:
        problem = f"the model does not fit into memory ({first_line(exc)})"
        raise BackendError(f"{spec.location}: {problem}") from exc
    return Loaded(model, tokenizer, words, found.revision, found.files)


def most_tokens(tokenizer: Any, config: Any, otherwise: int) -> int:
    """Return how many tokens a model reads, according to its tokenizer and its positions.

    Args:
        otherwise: the number to return if neither names a limit.
    """
    config = config.get_text_config()
    limits = []
    if tokenizer.model_max_length < 10**9:  # 10³⁰ means 'no limit is named'
        limits.append(int(tokenizer.model_max_length))
    # T5 and its relatives have relative positions: their number is no limit, only a hint.
    is_relative = config.is_encoder_decoder and hasattr(config, "relative_attention_num_buckets")
    if not (limits and is_relative):
        unused = 2 if _POSITIONS_AFTER_PADDING.search(config.model_type) else 0
        named = (getattr(config, name, None) for name in ("max_position_embeddings", "n_positions"))
        limits += [positions - unused for positions in named if positions and positions > 0]
    return min(limits, default=otherwise)


def share_cores() -> None:
    """Use a fair share of the cores inside a Celery task; elsewhere leave PyTorch's own choice.

    PyTorch's own choice is all cores, or OMP_NUM_THREADS.
    """
    import torch

    pool_size = current_task.app.conf.worker_concurrency if current_task else None
    if pool_size:
        torch.set_num_threads(max(1, (os.cpu_count() or 1) // pool_size))


def _from_files(folder: Path, spec: ModelSpec, auto_class: str, made_for: str) -> tuple[Any, Any]:
    import torch
    import transformers
    from transformers.utils import logging

    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    # The library would print tables of what is refused below.
    logging.set_verbosity_error()  # type: ignore[no-untyped-call]
    safe: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}
    try:
        tokenizer: Any = transformers.AutoTokenizer.from_pretrained(folder, **safe)
        model, found = getattr(transformers, auto_class).from_pretrained(
            folder,
            dtype=torch.bfloat16 if spec.precision == "bf16" else torch.float32,
            use_safetensors=True,
            output_loading_info=True,
            ignore_mismatched_sizes=True,  # refused below, in a message that names the weights
            **safe,
        )
    except Exception as exc:  # files made by others may raise anything
        raise BackendError(
            f"{spec.location}: the model cannot be loaded. Are its files complete? "
            f"{first_line(exc)}"
        ) from exc
    misfits = [name for name, *_ in found["mismatched_keys"]]
    if wanting := sorted(found["missing_keys"]) + sorted(misfits):
        raise BackendError(
            f"{spec.location}: found no fitting weights for {', '.join(wanting[:3])}; expected a "
            f"complete checkpoint, fine-tuned for {made_for}"
        )
    return tokenizer, model
