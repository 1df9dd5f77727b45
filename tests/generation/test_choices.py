"""Choices that are declared once: the form, the serializer and the arguments made of them."""

from argparse import ArgumentParser
from enum import StrEnum
from typing import Annotated, Any, NamedTuple

import pytest
from rest_framework.exceptions import ValidationError

from generation.choices.arguments import add_arguments, given_from
from generation.choices.declaration import (
    Choice,
    ChoiceError,
    check_types,
    fields_of,
    made,
    unusual,
    values_of,
)
from generation.choices.forms import ChoicesForm
from generation.choices.serializers import given_in, serializer_of


class Roast(StrEnum):
    LIGHT = "light"
    DARK = "dark"


class Water(NamedTuple):
    degrees: Annotated[float, Choice("Degrees", low=80, high=100)] = 92.5


class Coffee(NamedTuple):
    """A cup of coffee."""

    water: Water = Water()
    roast: Annotated[Roast, Choice("Roast", {"light": "Light", "dark": "Dark"})] = Roast.DARK
    cups: Annotated[int, Choice("Cups", help="How many, at 100 % full.", low=1, high=12)] = 1
    has_milk: Annotated[bool, Choice("With milk")] = False
    name: Annotated[str, Choice("For", usual="whoever asks")] = ""
    sugar: Annotated[float | None, Choice("Sugar", low=0)] = None


ICED = {"degrees": 80.0, "roast": "light", "cups": 2, "has_milk": True, "name": "Ada", "sugar": 1.5}


def from_command(*arguments):
    parser = ArgumentParser()
    add_arguments(parser, Coffee)
    return given_from(Coffee, vars(parser.parse_args(arguments)))


def test_fields_of_a_tuple_within_are_choices_as_well():
    assert [field.name for field in fields_of(Coffee)] == list(ICED)
    assert [field.kind for field in fields_of(Coffee)] == [float, str, int, bool, str, float]


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (ICED | {"sugar": None, "unknown": []}, ""),
        ({"degrees": 90}, ""),  # a whole number is a number
        ({"degrees": "90"}, "degrees: found '90'; expected a value like 92.5."),
        ({"degrees": 70.0}, "degrees: found 70.0; expected 80 to 100."),
        ({"roast": "burnt"}, "roast: found 'burnt'; expected one of light, dark."),
        ({"roast": ["dark"]}, "roast: found ['dark']; expected one of light, dark."),
        ({"cups": True}, "cups: found True; expected a value like 1."),
        ({"cups": None}, "cups: found None; expected a value like 1."),
        ({"has_milk": 1}, "has_milk: found 1; expected a value like False."),
    ],
)
def test_values_of_a_file_have_the_types_and_bounds_of_the_choices(given, says):
    said = ""
    try:
        check_types(Coffee, given)
    except ChoiceError as error:
        said = str(error)

    assert said == says


def test_what_is_given_is_made_and_read_again():
    chosen = made(Coffee, ICED)

    assert chosen == Coffee(Water(80.0), Roast.LIGHT, 2, True, "Ada", 1.5)
    assert isinstance(chosen.roast, Roast)
    assert values_of(chosen) == ICED
    assert made(Coffee, {}) == Coffee()
    assert unusual(Coffee(cups=3)) == {"cups": 3}


def test_page_api_and_command_take_the_same():
    sent = {name: str(value) for name, value in ICED.items()}
    arguments = [
        *("--degrees", "80", "--roast", "light", "--cups", "2"),
        *("--has-milk", "--name", "Ada", "--sugar", "1.5"),
    ]

    assert ChoicesForm(Coffee, sent).given == ICED
    assert given_in(Coffee, sent) == ICED
    assert from_command(*arguments) == ICED


def test_what_is_not_said_is_as_usual():
    assert ChoicesForm(Coffee, {}).chosen == Coffee()
    assert ChoicesForm(Coffee, {}).address == ""
    assert made(Coffee, given_in(Coffee, {})) == Coffee()
    assert "name" not in given_in(Coffee, {})  # the default depends on the caller
    assert from_command() == {"has_milk": False}


@pytest.mark.parametrize(
    ("name", "wrong"),
    [("degrees", "101"), ("degrees", "nan"), ("cups", "0"), ("cups", "x"), ("roast", "blue")],
)
def test_a_value_that_a_choice_cannot_have_is_refused_and_left_out_of_a_page(name, wrong, capsys):
    with pytest.raises(ValidationError) as refused:
        given_in(Coffee, {name: wrong})
    with pytest.raises(SystemExit):
        from_command(f"--{name}", wrong)

    assert list(refused.value.detail) == [name]
    assert f"argument --{name}: " in capsys.readouterr().err
    assert ChoicesForm(Coffee, {name: wrong}).chosen == Coffee()
    assert ChoicesForm(Coffee, {name: wrong}).errors[name]


def test_the_serializer_and_the_help_say_what_was_declared():
    fields: Any = serializer_of(Coffee)().fields
    parser = ArgumentParser()
    add_arguments(parser, Coffee)

    assert (fields["cups"].min_value, fields["cups"].max_value, fields["cups"].default) == (
        1,
        12,
        1,
    )
    assert fields["name"].help_text == "For. Default: whoever asks."
    assert " ".join(parser.format_help().split()).count("How many, at 100 % full. Default: 1.") == 1


def test_a_page_offers_the_values_that_a_subject_has():
    form = ChoicesForm(Coffee, {"name": "Bob"}, without={"sugar"}, known={"name": ["Ada"]})

    assert form.chosen == Coffee()
    assert "sugar" not in form.fields
