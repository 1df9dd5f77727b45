"""Fields that are folded away, with their values said in one line."""

from django import forms

from generation.choices.folded_fields import Fold, FoldingForm, Told


class DrawForm(FoldingForm):
    folds_declared = {
        "draw": Fold(
            "Draw",
            {
                "seed": Told("seed {}"),
                "size": Told("{} examples", {"": "all examples"}),
                "places": Told("evidence {}"),
                "rate": Told("rate {}"),
                "is_odd": Told("", {"True": "odd ones only"}),
                "absent": Told("{}"),
            },
            usual="as usual",
        ),
        "note": Fold("Note", {"note": Told("{}")}, usual="no note"),
    }

    seed = forms.IntegerField(initial=0)
    size = forms.IntegerField(required=False)
    places = forms.MultipleChoiceField(
        choices=[("a", "Before it"), ("b", "USD"), ("c", "After it")], initial=["a", "b"]
    )
    rate = forms.FloatField(initial=5e-5)
    is_odd = forms.BooleanField(required=False)
    note = forms.CharField(required=False)


def sent(**more):
    """Return a form that was sent, with its usual values and some others."""
    return DrawForm({"seed": "7", "size": "", "places": ["a"], "rate": "1", "note": ""} | more)


def test_values_are_said_before_and_after_a_form_is_sent():
    fresh = DrawForm().folds["draw"]

    assert fresh.said == "seed 0, all examples, evidence before it and USD, rate 5e-05"
    assert [field.name for field in fresh.fields] == ["seed", "size", "places", "rate", "is_odd"]
    assert sent(size="5", is_odd="on").folds["draw"].said == (
        "seed 7, 5 examples, evidence before it, rate 1, odd ones only"
    )
    assert "evidence all 3" in sent(places=["a", "b", "c"]).folds["draw"].said


def test_what_says_nothing_is_said_to_be_as_usual():
    assert DrawForm().folds["note"].said == "no note"
    assert sent(note="<b>{}</b>").folds["note"].said == "<b>{}</b>"


def test_a_fold_is_open_only_if_one_of_its_fields_has_an_error():
    refused = sent(seed="many")
    assert not refused.is_valid()

    assert refused.folds["draw"].is_open
    assert not refused.folds["note"].is_open
    assert refused.said_selectors == "#id_draw_said,#id_note_said"
