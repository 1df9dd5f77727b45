"""Terms of the glossary are explained where they stand, and every template names real ones."""

import re
from pathlib import Path

import pytest
from django.template import engines
from django.test import RequestFactory

from accounts.glossary import UnknownTermError, term_of
from tests.shown import shown

ROOT = Path(__file__).resolve().parents[2]
USED = re.compile(r"""\{% term "([^"]+)"|explains="([^"]+)\"""")


def rendered(text: str, **headers: str) -> str:
    request = RequestFactory().get("/", headers=headers)
    return engines["django"].from_string(text).render({}, request)


def test_a_term_is_a_button_with_the_meaning_that_the_glossary_gives():
    html = rendered('The {% term "ceiling" words="ceilings" %}.')

    assert (
        '<button class="term" type="button" popovertarget="term-ceiling">ceilings</button>' in html
    )
    assert "people reach when they are compared" in " ".join(html.split())
    assert '/docs/glossary/#ceiling">Glossary</a>' in html
    assert html.endswith("</span>.")
    assert shown(f"<p>{html}</p>").text == "The ceilings ."


def test_terms_of_one_row_share_its_meaning():
    assert term_of("separate").meaning == term_of("merged").meaning
    assert "<em>Separate</em>" in term_of("separate").meaning


def test_the_second_place_of_a_term_on_a_page_is_plain_words():
    html = rendered('{% term "arm" %} and {% term "arm" words="arms" %}')

    assert html.count("<button") == html.count('id="term-arm"') == 1
    assert html.endswith(" and arms")


def test_a_part_that_htmx_asked_for_has_other_ids_than_its_page():
    html = rendered('{% term "arm" %}', **{"HX-Target": 'fig"ures'})

    assert 'popovertarget="term-arm-figures"' in html
    assert 'id="term-arm-figures"' in html


def test_an_unknown_term_is_refused_with_its_name():
    with pytest.raises(UnknownTermError, match="no term 'seiling'"):
        rendered('{% term "seiling" %}')


def test_every_term_that_a_template_explains_is_in_the_glossary():
    texts = [path.read_text("utf-8") for path in (ROOT / "templates").rglob("*.html")]
    used = {first or second for text in texts for first, second in USED.findall(text)}

    assert len(used) >= 20
    for name in used:
        assert term_of(name)
