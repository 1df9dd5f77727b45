"""What is chosen about a SPARQL endpoint wherever one is asked: checked before anything is made."""

from evaluation.jobs.services import JobError
from generation.retrieval.endpoint_addresses import EndpointError, check_endpoint
from generation.retrieval.wikibase import ENTITIES, LANGUAGE

LONGEST_ADDRESS = 500  # characters
LONGEST_LANGUAGE = 20


def checked_endpoint(endpoint: str, entities: str, language: str, *, allow_private: bool) -> str:
    """Return the address of an endpoint that may be asked, without white space around it.

    Args:
        entities: how addresses of entities begin.
        language: of names and relations.
        allow_private: an admin lets the endpoint be in a network of one's own.

    Raises:
        JobError: a choice that cannot be used, in the order language, entities, endpoint.
    """
    if not LANGUAGE.fullmatch(language) or len(language) > LONGEST_LANGUAGE:
        found = repr(language[:LONGEST_LANGUAGE])
        raise JobError(f"Found {found}; expected the code of a language, as in en.", "language")
    is_iri = entities.startswith(("http://", "https://")) and entities[-1] in "/#"
    if not is_iri or set(entities) & set('<>"{}|^`\\ ') or not entities.isprintable():
        raise JobError(f"Found {entities[:80]!r}; expected as in {ENTITIES}", "entities")
    endpoint = endpoint.strip()
    if len(endpoint) > LONGEST_ADDRESS:
        raise JobError(f"Expected an address of at most {LONGEST_ADDRESS} characters.", "endpoint")
    try:
        check_endpoint(endpoint, allow_private=allow_private)
    except EndpointError as error:
        raise JobError(str(error), "endpoint") from error
    return endpoint
