"""Every word on a page that raters reach can be translated.

The pages are asked for in a pseudo-language, in which each message that was collected stands in
marks: ⟦My studies⟧. What people wrote is in Greek letters. So a Latin letter outside the marks
belongs to a word that no translation changes.
"""

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any

import pytest
from django.conf import settings
from django.test import Client
from django.urls import reverse
from django.utils.translation import trans_real

from annotation.models import (
    Assignment,
    CrowdPlatform,
    Enquiry,
    Exposure,
    Flag,
    Guideline,
    QualificationItem,
    Rater,
    Study,
)
from annotation.schemes import built_in_schemes
from generation.models import Citation, Entity, Passage, Response, Turn
from tests.annotation.blind.planted import IDS, Planted, plant
from tests.conftest import session_of

pytestmark = pytest.mark.walk

PSEUDO = "eo"  # a language that Django knows, so that what is cached for it is of this test alone
GREEK = str.maketrans(
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ",
    "αβψδεφγηιξκλμνοπθρστυϝωχυζΑΒΨΔΕΦΓΗΙΞΚΛΜΝΟΠΘΡΣΤΥϜΩΧΥΖ",
)
WRITTEN = (  # what people or models wrote
    (Study, ("name", "introduction")),
    (Guideline, ("text",)),
    (CrowdPlatform, ("consent", "code_done", "code_screened_out", "code_returned")),
    (QualificationItem, ("explanation",)),
    (Enquiry, ("text", "answer")),
    (Flag, ("reason",)),
    (Turn, ("text",)),
    (Passage, ("text", "title", "url")),
    (Response, ("text",)),
    (Citation, ("sentence", "relation", "value", "qid")),
    (Entity, ("label",)),
)
KEYS = frozenset(
    {
        "key",
        "kind",
        "target",
        "evidence",
        "citations",
        "after",
        "main",
        "version",
        "better",
        "scale",
        "answer",
        "impossible",
    }
)
SAME_IN_ALL = re.compile(  # the site's name, codes, letter keys, languages
    r"Attest|\b[A-Z]-[A-Z0-9]{6}\b|\b[A-Z0-9]{4}(?:-[A-Z0-9]{4}){2}\b|^[A-Z?]$|^(?:EO|English|Esperanto)$|UTC"
)
KEYS_IN_WORDS = re.compile(  # keys of questions are data, and pages show them as words
    "|".join(
        rf"\b{row['key'].replace('_', ' ')}\b"
        for scheme in built_in_schemes().values()
        for row in scheme["questions"]
    ),
    re.IGNORECASE,
)
SHOWN_ATTRIBUTES = (
    "aria-label",
    "title",
    "placeholder",
    "alt",
    "data-label",
    "data-copied",
    "data-said",
)


class Pseudo(trans_real.DjangoTranslation):
    """A language that has the messages of German; each is the English one in marks."""

    def __init__(self) -> None:
        super().__init__("de")

    def to_language(self) -> str:
        return PSEUDO

    def _marked(self, message: str, key: Any) -> str:
        return f"⟦{message}⟧" if key in vars(self)["_catalog"] else message

    def gettext(self, message: str) -> str:
        return self._marked(message.rpartition("\x04")[2], message)

    def ngettext(self, one: str, many: str, n: int) -> str:
        said = one if n == 1 else many
        return self._marked(said.rpartition("\x04")[2], (one, 0))


class Words(HTMLParser):
    """The texts of a page, and of its attributes, that stand outside of marks."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.unmarked: list[str] = []
        self._depth, self._unseen, self._is_english = 0, 0, False
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._unseen += tag in ("script", "style")
        self._is_english = ("lang", "en") in attrs  # the title of a document, which says so
        for name, said in attrs:
            if name in SHOWN_ATTRIBUTES and not self._depth:
                self._note(re.sub("⟦.*⟧", "", said or "", flags=re.DOTALL))

    def handle_endtag(self, tag: str) -> None:
        self._unseen -= tag in ("script", "style")

    def handle_data(self, data: str) -> None:
        if self._unseen or self._is_english:
            return
        for part in re.split("([⟦⟧])", data):
            self._depth += {"⟦": 1, "⟧": -1}.get(part, 0)
            if not self._depth:
                self._note(part)

    def _note(self, text: str) -> None:
        if re.search("[A-Za-z]", KEYS_IN_WORDS.sub("", SAME_IN_ALL.sub("", text.strip()))):
            self.unmarked.append(" ".join(text.split()))


def in_greek(data: Any) -> Any:
    """Return what people wrote in Greek letters; keys of JSON stay."""
    if isinstance(data, dict):
        return {k: v if k in KEYS else in_greek(v) for k, v in data.items()}
    if isinstance(data, list):
        return [in_greek(each) for each in data]
    return data.translate(GREEK) if isinstance(data, str) else data


@pytest.fixture(scope="module")
def planted(module_database: None, tmp_path_factory: pytest.TempPathFactory) -> Planted:
    planted = plant(tmp_path_factory.mktemp("planted"))
    for model, fields in WRITTEN:
        for row in model.objects.all():
            for name in fields:
                setattr(row, name, in_greek(getattr(row, name)))
            row.save(update_fields=fields)
    for study in Study.objects.all():
        Study.objects.filter(pk=study.pk).update(scheme=in_greek(study.scheme))
    for viewer in planted.viewers.values():
        viewer.user.username = in_greek(viewer.user.username)
        viewer.user.save()
    return planted


@pytest.fixture(autouse=True)
def pseudo_language(monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    settings.LANGUAGES = [("en", "English"), (PSEUDO, "Esperanto")]
    monkeypatch.setitem(vars(trans_real)["_translations"], PSEUDO, Pseudo())


def client_of(user: Any = None) -> Client:
    client = Client(headers={"accept-language": PSEUDO})
    if user:
        client.cookies[settings.SESSION_COOKIE_NAME] = session_of(user)
    return client


def pages_of(user: Any) -> Iterator[Any]:
    """Yield the answers to all that a rater may open, and to forms that are refused."""
    client = client_of(user)
    yield client.get(reverse("annotation:my-studies"))
    yield client.get(reverse("accounts:change-password"))
    yield client.post(reverse("accounts:change-password"), {})
    yield client.get("/no-such-page/")
    yield client.get(reverse("annotation:studies"))  # 403
    yield client.post(reverse("annotation:my-studies"))  # 405
    for rater in Rater.objects.filter(user=user).select_related("study"):
        slug = rater.study.slug
        for name in (
            "my-answers",
            "guidelines",
            "guideline-changes",
            "qualification",
            "end-of-round",
        ):
            yield client.get(reverse(f"annotation:{name}", args=[slug]))
        yield client.get(reverse("annotation:end-of-visit", args=[slug]))
        yield client.get(reverse("annotation:qualification-item", args=[slug, 1]))
        met = {*Exposure.objects.filter(rater=rater).values_list("unit", flat=True)}
        met |= {*Assignment.objects.filter(rater=rater).values_list("unit", flat=True)}
        for unit in sorted(met):
            url = reverse("annotation:rate-unit", args=[slug, unit])
            yield client.get(f"{url}?last={unit}&said=1")
            for ending in ("", "skip/", "flag/", "ask/"):
                yield client.post(f"{url}{ending}", {})


def unmarked_on(answers: Iterator[Any]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for answer in answers:
        if answer.headers.get("Content-Type", "").startswith("text/html") and answer.content:
            for said in Words(answer.text).unmarked:
                where = f"{answer.status_code} {answer.wsgi_request.path}"
                found.setdefault(said, []).append(where)
    return found


@pytest.mark.parametrize("name", ["rachel", "rebecca", "kim", "lee", "mia"])
def test_every_word_on_the_pages_of_a_rater_can_be_translated(planted, db, name):
    answers = list(pages_of(planted.viewers[name].user))

    assert unmarked_on(iter(answers)) == {}
    assert {answer.status_code for answer in answers} >= {200, 403, 404, 405}


def test_every_word_can_be_translated_before_somebody_is_signed_in(planted, db):
    client, study = client_of(), planted.mill
    join = reverse("join", args=[study.link.token])
    ids = f"?{IDS[0]}=joe&{IDS[1]}=s&{IDS[2]}=v"
    answers = [
        client.get(reverse("accounts:sign-in")),
        client.post(reverse("accounts:sign-in"), {"username": "x", "password": "y"}),
        client.get(reverse("accounts:return")),
        client.post(reverse("accounts:return"), {"code": "K7P2-9QXM-4TRB"}),
        client.get(reverse("accounts:sign-in-link", args=["wrong"])),
        client.get(join),
        client.get(join + ids),
        client.post(join + ids, {"answer": "no"}),
        client.get(join.replace(study.link.token, "wrong")),
        client.post(
            reverse("annotation:next-unit", args=[study.slug]), {"csrfmiddlewaretoken": "x"}
        ),
    ]
    answers += [client.post(reverse("accounts:return"), {"code": "wrong"}) for _ in range(50)][-1:]

    assert unmarked_on(iter(answers)) == {}
    assert [answer.status_code for answer in answers][-1] == 429
