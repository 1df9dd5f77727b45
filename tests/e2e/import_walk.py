"""The pages of imports in every state that looks different, for the walk over all pages."""

from collections.abc import Iterator

from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from accounts.models import User
from evaluation.exchange.mappings import save_mapping
from evaluation.exchange.uploads import request_import
from generation.models import Import
from tests.uploading import asked_to_store, carried_on

LONG = "The Ansel Light stands on a rock. " * 200
KNOWN = f"question,answer,context,model\nWho?,<b>She</b>,{LONG},small\nمتى؟,١٨٤٦,{LONG},large\n"
RATED = "frage,antwort,wer,urteil\nWho?,She.,anna,gut\nWho?,She.,ben,schlecht\n"
MAPPING = """[columns]
frage = "question"
antwort = "response"
wer = "rater"
urteil = "vote"
"""


def import_pages(user: User) -> Iterator[tuple[str, str]]:
    """Yield name and address of each page, with imports such as a worker leaves them."""
    yield "import, none", reverse("evaluation:import")
    save_mapping("Ratings of May", MAPPING, user)
    checking = _sent(user, KNOWN)
    yield "import, checking", _page(checking)
    yield "import, a table", _page(carried_on(checking))
    yield "import, unknown columns", _page(carried_on(_sent(user, RATED)))
    yield "import, votes of a table", _page(carried_on(_sent(user, RATED, MAPPING)))
    bad = _sent(user, KNOWN + ",no question,x,small\n")
    yield "import, bad rows", _page(carried_on(bad))
    yield "import, failed", _page(carried_on(_sent(user, "%PDF-1.7")))
    yield "import, done", _page(carried_on(asked_to_store(_sent(user, KNOWN))))
    yield "imports", reverse("evaluation:import")


def _sent(user: User, content: str, mapping: str = "") -> Import:
    file = SimpleUploadedFile("answers.csv", content.encode())
    return request_import(file, "Lights", "", user, mapping=mapping)


def _page(upload: Import) -> str:
    return reverse("evaluation:import-progress", args=[upload.pk])
