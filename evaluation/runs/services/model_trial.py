"""The trial of a listed model: it is opened as a worker opens it, and a server is asked once."""

from evaluation.backends.registry import open_backend
from generation.backends.base import Decoding, Prompt
from generation.backends.reasoning import THINKING_TOKENS
from generation.backends.registry import LANGUAGE_MODELS, open_language_model
from generation.model_sizes import size_text
from generation.model_specs import BackendError
from generation.models import Checkpoint
from generation.services.checkpoints import known_size, pin_revision

TRIAL = Prompt("Say hello.")
TRIAL_DECODING = Decoding(max_tokens=16 + THINKING_TOKENS)


def try_model(checkpoint: Checkpoint) -> str:
    """Open a listed model, ask a language model for one reply, and return what was found, in words.

    The commit of a name on the hub, and the size of its files, are stored if they were not known.

    Raises:
        BackendError: the model cannot be used.
    """
    spec = checkpoint.spec()
    if checkpoint.backend not in LANGUAGE_MODELS:
        opened = open_backend(spec)
        found = [f"it was opened on {opened.device}"]
    else:
        opened = open_language_model(spec)
        [reply] = opened.complete([TRIAL], TRIAL_DECODING)
        if reply.problem:
            raise BackendError(f"It gave no reply to “{TRIAL.text}”: {reply.problem}")
        found = [f"it replied on {opened.device} to “{TRIAL.text}” with “{reply.text.strip()}”"]
    pin_revision(checkpoint.name, opened.revision)
    if opened.revision:
        found.append(f"revision {opened.revision}")
    if size := known_size(spec, opened.revision):
        found.append(f"{size_text(size)} parameters")
    return ", ".join(found)
