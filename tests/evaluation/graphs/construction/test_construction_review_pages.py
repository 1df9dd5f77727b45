"""Entries of a construction round by round, their review, and datasets made of them."""

import pytest
from django.urls import reverse

from generation.importers.entries import LONGEST_PARAGRAPH
from generation.models import ConstructionEntry, Dataset, MinimumTriple, Turn
from tests.construction_material import PROBLEM, QUESTIONS, SIMPLE, add_built
from tests.evaluation.graphs.construction.reviewed_constructions import (
    address,
    decide,
    entry_of,
    make_bards,
)
from tests.makers import statements
from tests.shown import shown

pytestmark = pytest.mark.once

SCRIPT = "<script>alert('x')</script>"


@pytest.fixture
def admin(client_for, adam):
    return client_for(adam)


@pytest.fixture
def bards(rosa):
    return make_bards(rosa)


class TestEntry:
    def test_round_by_round(self, researcher, bards):
        """The set: one triple of round 1 (the other citation is wrong), then one a round."""
        answer = researcher.get(address("entry", bards.pk, 4))
        entry = answer.context["shown"]
        page = shown(answer)

        assert [round.call.round for round in entry.rounds] == [1, 2, 3]
        assert entry.rounds[0].n_of == {"in minimum set": 1, "wrong": 1}
        assert entry.rounds[1].n_of == {"in minimum set": 2, "wrong": 1}
        assert [(each.member.relation, each.member.round) for each in entry.members] == [
            ("spouse", 1),
            ("date of death", 2),
            ("occupation", 3),
        ]
        assert [each.is_cited for each in entry.members] == [True, True, False]
        first, second, third = (item for item in page.items if " Round " in item[:10])
        assert "William Shakespeare Q3 , occupation : playwright not cited" in third
        for question, item in zip(QUESTIONS, (first, second, third), strict=True):
            assert question in item
        assert "The prompt of round 2." in second
        assert PROBLEM in page.text
        assert "Sorry, <b>no</b>." in page.text

    def test_names_in_round_1_are_no_members(self, researcher, bards):
        """The label alone is correct; with a claim, an alias says who is meant; 'Ann' is wrong."""
        answer = (
            "Anne [Q1, name: Anne Hathaway] died [Q1, Anne Shakespeare, date of death: 1623]. "
            "She did [Q1, name: Ann, date of death: 1623]."
        )
        entry_of(bards, 4).calls.filter(round=1).update(answer=answer)

        entry = researcher.get(address("entry", bards.pk, 4)).context["shown"]

        assert entry.rounds[0].n_of == {"in minimum set": 2, "correct": 1, "wrong": 1}
        assert [each.member.relation for each in entry.members if each.member.round == 1] == [
            "date of death"
        ]

    def test_it_costs_the_same_however_many_rounds_and_entries_there_are(self, researcher, bards):
        n_few = len(statements(lambda: researcher.get(address("entry", bards.pk, 2))))

        assert len(statements(lambda: researcher.get(address("entry", bards.pk, 4)))) == n_few

    @pytest.mark.parametrize(
        ("number", "said"),
        [
            (1, "Left out: incomplete name. found “Anne”"),
            (3, "The model wrote nothing that can be read."),
        ],
    )
    def test_what_has_no_question_cannot_be_reviewed(self, researcher, bards, number, said):
        page = shown(researcher.get(address("entry", bards.pk, number)))

        [message] = page.messages
        assert said in message
        assert "verdict" not in page.fields
        assert decide(researcher, bards, number, "keep").status_code == 422
        assert entry_of(bards, number).verdict == ""

    def test_foreign_text_is_escaped(self, researcher, bards):
        entry = add_built(
            bards, name_1=SCRIPT, relation=SCRIPT, paragraph=SCRIPT, edited_question=SCRIPT
        )

        for name, number in (("entry", [entry.number]), ("construction", [])):
            answer = researcher.get(address(name, bards.pk, *number))
            assert SCRIPT not in answer.text
            assert SCRIPT in shown(answer).text

    def test_a_long_paragraph_scrolls_in_its_place(self, researcher, bards):
        """The longest that a file may hold; a page has it once, and by its keys."""
        entry = add_built(bards, paragraph="Anne wed. " * (LONGEST_PARAGRAPH // 10))

        long = researcher.get(address("entry", bards.pk, entry.number)).text
        short = researcher.get(address("entry", bards.pk, 4)).text

        assert 'long-text" tabindex="0"' in long
        assert "long-text" not in short
        assert long.count("Anne wed.") == LONGEST_PARAGRAPH // 10

    def test_another_ones_entry_is_not_found(self, researcher, bards):
        assert researcher.get(address("entry", bards.pk, 7)).status_code == 404
        assert researcher.get(address("entry", bards.pk + 1, 1)).status_code == 404


class TestReview:
    def test_keeping_goes_on_to_the_next_open_one(self, researcher, bards):
        answer = decide(researcher, bards, 4, "keep", question=QUESTIONS[2], simple_question=SIMPLE)

        entry = entry_of(bards, 4)
        assert answer.url == address("entry", bards.pk, 5)
        assert (entry.verdict, entry.edited_question, entry.edited_simple_question) == (
            "keep",
            "",
            "",
        )
        assert str(entry.reviewed_by) == "rosa"

    def test_the_last_one_leads_back(self, researcher, bards):
        for number in (4, 5):
            decide(researcher, bards, number, "keep")

        assert decide(researcher, bards, 6, "keep").url == address("construction", bards.pk)

    def test_words_are_edited_and_members_taken_out(self, researcher, bards):
        edited = {"question": " Who \n died? ", "simple_question": "", "taken_out": "2"}
        decide(researcher, bards, 4, "keep", **edited)

        entry = entry_of(bards, 4)
        assert entry.edited_question == "Who died?"
        assert entry.edited_simple_question == ""
        assert entry.taken_out == [["Q3", "occupation", "playwright"]]
        again = shown(researcher.get(address("entry", bards.pk, 4)))
        assert again.fields["question"] == "Who died?"
        assert again.fields["taken_out"] == ["2"]
        assert "2 triples that an answer needs" in again.text

    def test_the_whole_set_cannot_be_taken_out(self, researcher, bards):
        answer = decide(researcher, bards, 4, "keep", question="Who?", taken_out=["0", "1", "2"])

        assert answer.status_code == 422
        assert "Leave at least one member" in shown(answer).errors["taken_out"]
        assert entry_of(bards, 4).verdict == ""

    def test_a_drop_needs_a_reason_and_leaves_the_words(self, researcher, bards):
        decide(researcher, bards, 4, "keep", question="Who died?", taken_out="2")

        refused = decide(researcher, bards, 4, "drop", reason="  ")
        assert refused.status_code == 422
        page = shown(refused)
        assert "Say why" in page.errors["reason"]
        assert page.fields["question"] == "Who died?"

        decide(researcher, bards, 4, "drop", reason="Cannot be understood.")
        entry = entry_of(bards, 4)
        assert (entry.verdict, entry.reason) == ("drop", "Cannot be understood.")
        assert entry.edited_question == "Who died?"
        assert len(entry.taken_out) == 1

    def test_a_mind_may_be_changed(self, researcher, bards):
        decide(researcher, bards, 4, "drop", reason="No.")
        answer = decide(researcher, bards, 4, "open")

        entry = entry_of(bards, 4)
        assert answer.url == address("entry", bards.pk, 4)
        assert (entry.verdict, entry.reason, entry.reviewed_by) == ("", "", None)

    def test_a_verdict_that_is_none_changes_nothing(self, researcher, bards):
        assert decide(researcher, bards, 4, "").status_code == 422
        assert entry_of(bards, 4).verdict == ""


class TestPublishing:
    @pytest.fixture
    def done(self, bards):
        bards.entries.filter(state="failed").delete()
        return bards

    def publish(self, client, construction, name="bards", style="complex"):
        return client.post(address("publish", construction.pk), {"name": name, "style": style})

    def test_a_dataset_has_the_questions_that_nobody_dropped(self, researcher, done):
        decide(researcher, done, 4, "keep", question="Who died?", taken_out="0")
        decide(researcher, done, 5, "drop", reason="No.")

        answer = self.publish(researcher, done)

        made = Dataset.objects.get(name="bards")
        assert answer.url == reverse("graphs:questions", args=[made.slug])
        asked = Turn.objects.filter(example__dataset=made).order_by("example__key")
        assert [turn.text for turn in asked] == ["Who died?", QUESTIONS[2]]
        needed = MinimumTriple.objects.filter(question__example__key__endswith="-4")
        assert [(each.relation, each.round) for each in needed.order_by("position")] == [
            ("date of death", 2),
            ("occupation", 3),
        ]

    def test_it_is_told_beside_the_review_and_on_its_graph(self, researcher, done):
        self.publish(researcher, done, style="simple")

        messages = shown(researcher.get(address("entry", done.pk, 4))).messages
        assert any(
            "Your decisions here do not change it" in message and "bards" in message
            for message in messages
        )
        own = shown(researcher.get(address("construction", done.pk)))
        assert "bards simple" in own.text
        assert own.links["bards"] == reverse("graphs:questions", args=["bards"])
        assert "Decisions that you make from now on do not change them." in own.text
        graph = shown(researcher.get(reverse("graphs:graph", args=["bards"])))
        assert address("construction", done.pk) in graph.addresses
        assert decide(researcher, done, 4, "drop", reason="No.").status_code == 302

    def test_a_name_that_is_taken_is_said_at_the_field(self, researcher, done):
        self.publish(researcher, done)
        answer = self.publish(researcher, done, style="simple")

        assert answer.status_code == 422
        assert "Choose another name" in shown(answer).errors["name"]
        assert Dataset.objects.count() == 1

    def test_nothing_is_offered_where_every_question_is_dropped(self, researcher, done):
        for number in (4, 5, 6):
            decide(researcher, done, number, "drop", reason="No.")

        page = shown(researcher.get(address("construction", done.pk)))
        assert "Every question is dropped" in page.text
        assert not any("Make a dataset" in button for button in page.buttons)
        assert self.publish(researcher, done).status_code == 422
        assert not Dataset.objects.exists()

    def test_a_dataset_that_was_deleted_can_be_made_again(self, researcher, done):
        self.publish(researcher, done)
        Dataset.objects.get().delete()

        page = shown(researcher.get(address("construction", done.pk)))
        assert "Datasets made from it None yet." in page.text
        assert "Make a dataset of 3 questions" in page.buttons
        assert self.publish(researcher, done, style="simple").status_code == 302
        assert Dataset.objects.get().constructed.style == "simple"

    def test_what_a_dataset_is_made_of_is_not_deleted(self, researcher, admin, done):
        self.publish(researcher, done)
        page = shown(admin.post(address("delete", done.pk), follow=True))

        assert any("Delete that dataset first" in message for message in page.messages)
        assert ConstructionEntry.objects.exists()
