"""Grids that ask in a form: what a chat model is sent, and replies that go on with a form."""

import json

import pytest
from django.urls import reverse

from generation.backends.base import Completion
from generation.models import Call, Checkpoint, Grid
from tests.generation.question_makers import ask, dataset_of, grid_of, started
from tests.shown import shown
from tests.tiny_language_models import CHAT, tiny_causal

pytestmark = pytest.mark.once


def test_a_chat_model_is_asked_in_messages_and_a_call_keeps_them(tmp_path, researcher):
    location = tiny_causal(tmp_path / "m", always="Yes", chat_template=CHAT, context=2048)
    Checkpoint.objects.create(
        name="tiny", backend="language-model", location=str(location), is_chat=True
    )
    dataset = dataset_of(tmp_path / "d", 1)

    grid = ask(started(dataset, grid_of(model="tiny", prompts=["golden", "one-shot"])))

    assert (grid.state, grid.error) == (Grid.State.DONE, "")
    calls = Call.objects.select_related("response", "setup", "example")
    call, one_shot = calls.order_by("pk")
    assert call.setup.name == "tiny · T 0.0 · golden · form=messages"
    assert call.response
    assert call.response.text == "Yes"
    [passage] = dataset.passages.all()
    assert json.loads(call.prompt) == [
        {"role": "system", "content": f"Fact: {passage.text}"},
        *({"role": t.speaker, "content": t.text} for t in call.example.turns.order_by("index")),
    ]
    page = shown(researcher.get(reverse("grids:call", args=[grid.pk, call.pk])))
    assert "System’s message" in page.text
    assert "User’s message" in page.text
    page = shown(researcher.get(reverse("grids:call", args=[grid.pk, one_shot.pk])))
    parts = [part.text.split()[0] for part in page.parts("prompt-part")]
    assert parts == ["Evidence", "Demonstration", "Dialog"]


def test_replies_that_go_on_with_the_form_are_counted_and_found(
    tmp_path, noting, monkeypatch, researcher
):
    replies = iter(["13 12 1", "In 1971.", "1.1 1.1 1.1"])

    def said(prompts, decoding):
        return (Completion(next(replies), is_cut=True) for _ in prompts)

    monkeypatch.setattr(noting, "complete", said)
    grid = ask(started(dataset_of(tmp_path, 3), grid_of()))
    Call.objects.filter(completion="In 1971.").update(is_debris=None)  # made before Attest looked

    page = shown(researcher.get(reverse("grids:grid", args=[grid.pk])))
    found = shown(researcher.get(reverse("grids:calls", args=[grid.pk]), {"debris": "on"}))

    assert page.facts["Debris"] == "2 of 3 go on with the form of the prompt"
    assert page.facts["Truncated"] == "3 of 3 at 128 tokens"
    assert page.table("Calls by setup").column("Debris") == ["—"]
    report = reverse("evaluation:report-of-dataset", args=[grid.dataset.slug, "completions"])
    assert page.links["Report on completions"] == report
    assert [text.split()[0] for text in found.table("Calls").column("Response")] == ["13", "1.1"]
