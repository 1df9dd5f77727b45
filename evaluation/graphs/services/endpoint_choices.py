"""The choices about a SPARQL endpoint. They are checked before anything is stored."""

from typing import Annotated

from evaluation.jobs.services import JobError
from generation.choices.declaration import Choice
from generation.retrieval.endpoint_addresses import EndpointError, check_endpoint
from generation.retrieval.wikibase import ENTITIES, LANGUAGE

EndpointAddress = Annotated[
    str,
    Choice(
        "Endpoint",
        help="The address of a SPARQL endpoint, http or https. Its graph has Wikidata’s shape.",
        longest=500,
    ),
]
StartOfEntities = Annotated[
    str,
    Choice("Entities begin with", help="The address of an entity without its qid.", longest=200),
]
Language = Annotated[
    str, Choice("Language", help="The language of names and relations.", longest=20)
]
PRIVATE = Choice(
    "Allow an endpoint in our own network",
    help="Without this, local and private addresses are refused. It allows only the address above, "
    "and not an address that the endpoint redirects to.",
)
AllowPrivate = Annotated[bool, PRIVATE]


def checked_endpoint(endpoint: str, entities: str, language: str, *, allow_private: bool) -> str:
    """Return the address of an endpoint that may be asked, without white space around it.

    Args:
        entities: how addresses of entities begin.
        language: the code of the language of names and relations.
        allow_private: whether an admin allows the endpoint to be in our own network.

    Raises:
        JobError: a choice cannot be used. The order of checks is language, entities, endpoint.
    """
    if not LANGUAGE.fullmatch(language):
        raise JobError(
            f"Found {language!r}; expected the code of a language, for example en.", "language"
        )
    is_iri = entities.startswith(("http://", "https://")) and entities[-1] in "/#"
    if not is_iri or set(entities) & set('<>"{}|^`\\ ') or not entities.isprintable():
        raise JobError(
            f"Found {entities[:80]!r}; expected an address that ends in / or #, as in {ENTITIES}",
            "entities",
        )
    endpoint = endpoint.strip()
    try:
        check_endpoint(endpoint, allow_private=allow_private)
    except EndpointError as error:
        raise JobError(str(error), "endpoint") from error
    return endpoint
