"""The description of a model and how it is opened, and the error when it cannot be used."""

from typing import NamedTuple

USUAL_CALLS_AT_ONCE = 8
PRICED_TOKENS = 1_000_000  # number of tokens that a price is for
MOST_PRICE = 1_000_000
USUAL_CURRENCY = "USD"


class BackendError(Exception):
    """A backend cannot be used at all. It says where, what was found and what was expected."""


class Price(NamedTuple):
    """The price of `PRICED_TOKENS` tokens, in some currency."""

    input: float = 0.0
    output: float = 0.0

    def cost(self, n_input: int, n_output: int) -> float:
        """Return the cost of some tokens."""
        return (n_input * self.input + n_output * self.output) / PRICED_TOKENS


class ModelSpec(NamedTuple):
    """The model that a backend opens, and how it is opened."""

    backend: str  # its key in the registry
    name: str = ""  # what runs and signatures call the model
    location: str = ""  # a folder, a name on the Hugging Face hub, or the address of a server
    revision: str = ""  # the commit of a name on the hub; "": the newest one
    precision: str = "fp32"  # "fp32" or "bf16"
    entailment_index: int | None = None  # the output that means entailment, if it has no name
    served_name: str = ""  # what a server calls the model
    key_variable: str = ""  # the environment variable that holds a server's key
    # Whether an admin allows that the key is sent where others can read it on its way.
    key_over_http: bool = False
    # The languages of the texts, from `generation.text.languages.language_codes`.
    language: str = ""
    calls_at_once: int = USUAL_CALLS_AT_ONCE  # the most that its server may get
