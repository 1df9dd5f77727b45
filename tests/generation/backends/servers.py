"""Language models behind a stand-in server, opened with little patience."""

from typing import Any

from generation.backends.base import Completion, Decoding, Prompt
from generation.backends.openai_http import OpenAILanguageModel, ServerPatience
from generation.model_specs import ModelSpec
from tests.language_model_server import StandIn

SHORT = ServerPatience(request=5.0, prompt=9.0, n_tries=3, first_pause=0.01, longest_pause=0.05)
KEY = "sk-Nobody'sBusiness+42/=="
GREEDY = Decoding(max_tokens=4)


def opened(server: StandIn, patience: ServerPatience = SHORT, **spec: Any) -> OpenAILanguageModel:
    wanted = {"location": server.url, "served_name": "org/tiny"} | spec
    return OpenAILanguageModel(ModelSpec("openai", **wanted), patience)


def completed(server: StandIn, text: str = "Is it?", decoding: Decoding = GREEDY) -> Completion:
    [found] = opened(server).complete([Prompt(text)], decoding)
    return found
