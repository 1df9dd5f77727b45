"""The page of an example's prompts: one word by word, all types by their size."""

import pytest
from django.urls import reverse

from generation.models import Dataset
from generation.retrieval import dataset_index
from tests.generation.mill import example_rows, written
from tests.makers import import_rows, statements
from tests.shown import shown

pytestmark = pytest.mark.once


@pytest.fixture
def mill(tmp_path, settings):
    settings.MEDIA_ROOT = tmp_path / "media"
    import_rows(tmp_path / "mill", "mill", examples=example_rows())
    return Dataset.objects.get()


def address(dataset, key="mill"):
    return reverse("generation:prompts", args=[dataset.slug, dataset.examples.get(key=key).pk])


def prompt_on(page):
    """Return the prompt on a page: part → its lines."""
    return [
        (part.parts("who")[0].text, [line.text for line in part.parts("line")])
        for part in page.parts("prompt-part")
    ]


def row_of(page, title):
    """Return the cells of a type: type, dialog, evidence, instructions, all, passages, left out."""
    return [*page.table("Tokens").row(title).values()][1:]


# --- what it shows --------------------------------------------------------------------------


def test_the_page_begins_with_the_golden_prompt(researcher, mill):
    page = shown(researcher.get(address(mill)))

    assert prompt_on(page) == [
        ("Evidence", written("golden").split("\n")[:1]),
        ("Dialog", written("golden").split("\n")[1:]),
    ]


def test_a_prompt_is_shown_with_its_parts_told_apart(researcher, mill):
    chosen = {"type": "retrieved-2-instructions", "position": "before-last-turn"}
    prompt = prompt_on(shown(researcher.get(address(mill), chosen)))

    assert [part for part, _ in prompt] == ["Instructions", "Dialog", "Evidence", "Dialog"]
    assert prompt[2][1] == [
        "Fact: One flood made every mill close for weeks.",
        "Fact: Mill wheels stopped in 1971. Visitors came later.",
    ]


def test_each_form_is_shown_word_by_word_and_messages_say_whose_they_are(researcher, mill):
    chosen = {"type": "golden-instructions"}
    of_chat, plain = (
        shown(researcher.get(address(mill), chosen | {"form": form}))
        for form in ("messages", "plain")
    )

    said = [
        ([who.text for who in part.parts("who")], [line.text for line in part.parts("line")])
        for part in of_chat.parts("prompt-part")
    ]
    assert said == [
        (
            ["Instructions", "System’s message"],
            ["use the information from the provided “fact” to answer the question"],
        ),
        (["Evidence"], ["Fact: Mill wheels stopped in 1971. Visitors came later."]),
        (
            ["Dialog", "User’s message", "Assistant’s message", "User’s message"],
            ["Who built the mill?", "Monks did, in 1200.", "When did the mill close?"],
        ),
    ]
    assert prompt_on(plain)[2] == (
        "Dialog",
        [
            "User: Who built the mill?",
            "Assistant: Monks did, in 1200.",
            "User: When did the mill close?",
            "Assistant:",
        ],
    )


def test_the_passages_shown_are_named_in_order(researcher, mill):
    page = shown(researcher.get(address(mill), {"type": "retrieved-3"}))

    assert page.part("prompts").items == ["p4-flood", "p5-strike", "p2-mill golden"]


def test_the_table_has_every_type_with_its_tokens(researcher, mill):
    page = shown(researcher.get(address(mill)))

    assert page.table("Tokens").columns == [
        *("Prompt", "Dialog", "Evidence", "Instructions", "All", "Passages", "Left out")
    ]
    # See test_dialog_prompts.
    assert row_of(page, "No evidence") == ["39", "0", "0", "39", "0", ""]
    assert row_of(page, "Golden") == ["39", "12", "0", "51", "1", ""]
    assert row_of(page, "Retrieved 3, instructions") == ["39", "34", "15", "88", "3", ""]
    assert row_of(page, "No history, golden") == ["16", "12", "0", "28", "1", ""]
    assert row_of(page, "Top 3") == ["39", "33", "0", "72", "3", ""]


def test_restricted_context_is_shown_with_what_is_left_of_both(researcher, mill):
    page = shown(researcher.get(address(mill), {"type": "restricted-golden-0.5"}))

    # 6 of the 17 tokens of the turns, 6 of the 10 of the passage: see test_prompt_maker.
    assert page.notes["Dialog"] == "35 % of the dialog"
    assert page.notes["Evidence"] == "1 passage, 60 % of the evidence"
    assert prompt_on(page) == [
        ("Evidence", ["Fact: Mill wheels stopped in 1971."]),
        ("Dialog", ["0 -1 0 When did the mill close? [eot]", "1 0 1"]),
    ]
    title = "Restricted, golden, dialog 50 %"
    assert row_of(page, title) == ["16", "8", "0", "24", "1", ""]
    assert sum(key.startswith("restricted-") for key in page.choices("type")) == 22
    other = shown(researcher.get(address(mill)))
    assert other.text.count(title) == 1  # among the choices


def test_a_part_of_the_recipe_is_shown_by_its_address(researcher, mill):
    page = shown(researcher.get(address(mill), {"type": "top-2-of-3-part-2"}))

    assert page.table("Tokens").row("Top 2 of 3, part 2")["Passages"] == "2"
    assert page.part("prompts").items == ["p1-wind", "p4-flood"]
    assert page.fields["type"] == "top-2-of-3-part-2"


def test_what_a_budget_leaves_out_is_counted(researcher, mill):
    page = shown(researcher.get(address(mill), {"type": "retrieved-3", "budget": "49"}))

    assert row_of(page, "Retrieved 3") == ["16", "30", "0", "46", "3", "2 turns, 1 sentence"]
    assert page.notes["Dialog"] == "2 turns left out"
    assert page.notes["Evidence"] == "3 passages, 1 sentence left out"


def test_a_type_that_shows_more_passages_than_it_says_says_why(researcher, tmp_path, settings):
    """Golden passages are always in: of three of them 'retrieved 2' shows all."""
    settings.MEDIA_ROOT = tmp_path / "media"
    turns = [{"speaker": "user", "text": "When did the mill close?"}]
    golden = [{"id": f"g{n}", "text": f"The mill, part {n}.", "golden": True} for n in (1, 2, 3)]
    evidence = [*golden, {"id": "other", "text": "The mill closed."}]
    rows = [{"id": "mill", "turns": turns, "evidence": evidence}]
    import_rows(tmp_path / "three", "three", examples=rows)
    dataset = Dataset.objects.get()

    two, three = (
        shown(researcher.get(address(dataset), {"type": f"retrieved-{k}"})) for k in (2, 3)
    )

    assert two.part("prompts").items == ["g1 golden", "g2 golden", "g3 golden"]
    more = "1 more than the prompt type says, because that many are golden"
    assert two.notes["Evidence"] == f"3 passages, {more}"
    assert row_of(two, "Retrieved 2")[-2:] == ["3 1 more: golden", ""]
    assert three.notes["Evidence"] == "3 passages"
    assert row_of(three, "Retrieved 3")[-2:] == ["3", ""]


def test_a_type_without_a_prompt_says_why(researcher, mill):
    page = shown(researcher.get(address(mill, "market"), {"type": "golden"}))

    [message] = page.messages
    assert "No golden evidence" in message
    assert prompt_on(page) == []
    assert row_of(page, "Golden") == ["—", "—", "—", "—", "—", "no golden evidence"]
    assert page.table("Tokens").row("No evidence")["Left out"] == ""


def test_text_is_shown_as_text(researcher, tmp_path, settings):
    settings.MEDIA_ROOT = tmp_path / "media"
    turns = [{"speaker": "user", "text": "<script>alert(1)</script>"}]
    import_rows(tmp_path / "x", "x", examples=[{"id": "e", "turns": turns, "evidence": []}])
    dataset = Dataset.objects.get()

    answer = researcher.get(address(dataset, "e"), {"type": "no-evidence"})

    [(_, lines)] = prompt_on(shown(answer))
    assert "0 -1 0 <script>alert(1)</script> [eot]" in lines
    assert "<script>alert" not in answer.text


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("type", "tea leaves", "tea leaves is not one of"),
        ("position", "after", "after is not one of"),
        ("budget", "0", "greater than or equal to 1"),
        ("budget", "much", "whole number"),
    ],
)
def test_a_choice_that_there_is_not_is_refused_beside_its_field(
    researcher, mill, field, value, message
):
    answer = researcher.get(address(mill), {field: value})

    page = shown(answer)
    assert answer.status_code == 422
    assert message in page.errors[field]
    assert prompt_on(page) == []


def test_htmx_gets_the_part_that_changes(researcher, mill):
    answer = researcher.get(address(mill), headers={"HX-Request": "true"})

    assert answer.text.lstrip().startswith('<div id="prompts"')


def test_queries_do_not_grow_with_the_dialog(researcher, tmp_path, settings):
    settings.MEDIA_ROOT = tmp_path / "media"

    def dataset_of(name, n_turns, n_passages):
        speakers = ["user", "assistant"] * n_turns
        turns = [{"speaker": speaker, "text": f"Mill {speaker}"} for speaker in speakers[:n_turns]]
        evidence = [
            {"id": f"{name}-{n}", "text": f"Mill {n}.", "golden": n < 2} for n in range(n_passages)
        ]
        rows = [{"id": "mill", "turns": turns, "evidence": evidence}]
        import_rows(tmp_path / name, name, examples=rows)
        return Dataset.objects.get(name=name)

    def n_queries(dataset):
        researcher.get(address(dataset))  # its index is there afterwards
        return len(statements(lambda: researcher.get(address(dataset))))

    assert n_queries(dataset_of("short", 1, 4)) == n_queries(dataset_of("long", 11, 20))


def test_types_that_rank_wait_for_the_index_of_a_large_collection(researcher, mill, monkeypatch):
    monkeypatch.setattr(dataset_index, "MANY_PASSAGES", 0)

    page = shown(researcher.get(address(mill), {"type": "top-3"}))

    [message] = page.messages
    assert "not indexed yet" in message
    assert page.table("Tokens").row("Golden")["Passages"] != "—"
    assert not dataset_index.has_index(mill.pk)
    dataset_index.build_index(mill.pk)
    page = shown(researcher.get(address(mill), {"type": "top-3"}))
    assert page.messages == []
    assert "not indexed yet" not in page.text


# --- who may --------------------------------------------------------------------------------


def test_only_researchers_see_prompts(client, rachel, client_for, mill):
    page = address(mill)

    assert client.get(page).headers["Location"].startswith("/accounts/sign-in/")
    assert client_for(rachel).get(page).status_code == 403


def test_the_page_is_only_read(researcher, mill):
    assert researcher.post(address(mill)).status_code == 405


def test_an_example_of_another_dataset_is_not_found(researcher, mill, tmp_path):
    import_rows(tmp_path / "x", "x", examples=example_rows()[:1])
    of_x = Dataset.objects.get(name="x").examples.get()

    assert researcher.get(reverse("generation:prompts", args=["mill", of_x.pk])).status_code == 404


def test_the_page_of_an_example_leads_here(researcher, mill):
    example = mill.examples.get(key="mill")

    page = shown(researcher.get(reverse("evaluation:example", args=["mill", example.pk])))

    assert address(mill) in page.addresses
