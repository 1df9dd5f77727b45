"""The pages of the documentation, for everyone who is signed in, and the addresses of the API."""

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from accounts.access import Role, allowed, allowed_to_all
from accounts.http import SignedInRequest
from accounts.languages import in_english
from accounts.search_words import LONGEST_SEARCH, words_of
from config.api_document import subjects
from config.documentation import MOST_HITS, document_of, documents, search


@require_safe
@allowed_to_all
@in_english
def docs(request: SignedInRequest) -> HttpResponse:
    """Show the list of documents, or the sections that have the words of a search."""
    asked = request.GET.get("q", "").strip()[:LONGEST_SEARCH]
    context: dict[str, object] = {"asked": asked, "documents": documents()}
    if asked:
        context |= {"hits": search(asked), "most_hits": MOST_HITS, "words": words_of(asked)}
    return render(request, "docs/index.html", context)


@require_safe
@allowed_to_all
@in_english
def docs_page(request: SignedInRequest, name: str) -> HttpResponse:
    """Show one document. Only the names of files in docs/ are known."""
    try:
        document = document_of(name)
    except LookupError as error:
        raise Http404(str(error)) from error
    return render(request, "docs/page.html", {"document": document})


@require_safe
@allowed(Role.RESEARCHER)
def api_addresses(request: SignedInRequest) -> HttpResponse:
    """Show every address of the API by subject, as its document describes them."""
    return render(request, "docs/api_addresses.html", {"subjects": subjects()})
