"""The forms of a dialog that a model takes, and which of them is its usual one."""

from generation.backends.registry import LANGUAGE_MODELS
from generation.model_specs import ModelSpec
from generation.text.dialog_forms import Form


def forms_taken(spec: ModelSpec, is_chat: bool | None) -> tuple[Form, ...]:
    """Return the forms in which a model takes a dialog, its usual one first.

    A server's address for chats takes messages; its address for completions continues texts. So a
    server that has both is listed once for each. A model that runs here can do both. Without a
    model, `extractive` reads the native form.

    Args:
        is_chat: whether the model is listed as a chat model; None: it is not known. It counts as
            one, and says so itself where it is none.
    """
    kind = LANGUAGE_MODELS[spec.backend]
    if not kind.needs_model:
        return ("native",)
    if is_chat is False:
        return ("plain", "native")
    return ("messages", "native") if kind.is_server else ("messages", "native", "plain")
