"""Which model is used, and how it is opened; and what is said where it cannot be."""

from typing import NamedTuple


class BackendError(Exception):
    """A backend that cannot be used at all: where, what was found, what was expected."""


class ModelSpec(NamedTuple):
    """Which model a backend opens, and how."""

    backend: str  # its key in the registry
    name: str = ""  # what runs and signatures call the model
    location: str = ""  # a folder, a name on the Hugging Face hub, or the address of a server
    revision: str = ""  # of a name on the hub: the commit to use; "": today's
    precision: str = "fp32"  # or "bf16"
    entailment_index: int | None = None  # the output that means entailment, where it has no name
    served_name: str = ""  # what a server calls the model
    key_variable: str = ""  # the environment variable that holds a server's key
    key_over_http: bool = False  # an admin lets it be sent where others can read it on its way
