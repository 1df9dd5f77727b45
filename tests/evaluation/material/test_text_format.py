"""The page of a response, whose texts look as its raters read them."""

import pytest
from lxml import html

from annotation.models import Study, Vote
from generation.models import Response
from tests.evaluation.pages import make_pilot, response_address

pytestmark = pytest.mark.once


@pytest.fixture
def pilot(tmp_path):
    dataset = make_pilot(tmp_path)
    Response.objects.filter(key="r1").update(text="It closed in **1971**.")
    Study.objects.update(text_format="markdown")
    return dataset


def bold_words(client, key):
    root = html.document_fromstring(client.get(response_address(key)).text)
    return root.xpath("//div[@class='response']//strong/text()")


def test_a_response_looks_as_its_raters_read_it(pilot, rosa, client_for):
    assert bold_words(client_for(rosa), "r1") == ["1971"]


def test_a_response_that_two_studies_show_in_two_formats_is_plain(pilot, rosa, client_for):
    [study] = Study.objects.all()
    vote = Vote.objects.filter(target__response__key="r1").earliest("pk")
    study.pk, study.name, study.slug, study.text_format = None, "second", "second", "plain"
    study.save()
    vote.arm = study.arms.create(kind="separate")
    vote.save()

    assert bold_words(client_for(rosa), "r1") == []


def test_a_response_without_votes_is_plain(pilot, rosa, client_for):
    Response.objects.filter(key="r3").update(text="**Bold**")

    assert bold_words(client_for(rosa), "r3") == []
