"""The form in which a user says what the columns of a table are."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from django import forms
from django.forms import BoundField

from evaluation.exchange.place_choices import PlaceChoices
from generation.choices.declaration import fields_of
from generation.importers import ENCODINGS
from generation.importers.cell_meanings import is_missing
from generation.importers.errors import DatasetError
from generation.importers.mapped.mapping import DECIMALS, EVIDENCE, ColumnMapping, read_mapping
from generation.importers.mapped.roles import HOLD_VOTES, ROLES
from generation.importers.tables import DELIMITERS
from generation.limits import LONGEST_NAME

ROLE_CHOICES = [("", "Stays in meta"), *((key, role.title) for key, role in ROLES.items())]
# The meaning of a column's name, by the column's role.
NAMED = {
    "response": "Setup",
    "score": "Metric",
    **dict.fromkeys(HOLD_VOTES, "Question"),
}
LONGEST_ANSWER = 200
NO_PLACE: Mapping[str, Any] = {"sheet": "", "sheets": (), "header_line": 0, "lines": ()}
WAYS_OF_WRITING = ("encoding", "delimiter", "decimal")  # They belong to CSV files.


class MappedColumn(NamedTuple):
    """A column with its fields: its role, its name, and the meanings of its answers."""

    name: str
    samples: list[str]
    role: BoundField
    called: BoundField | None
    rater: BoundField | None
    scale: BoundField | None
    answers: list[BoundField]


class MappingForm(forms.Form):
    """A form with the role of each column of a table; `look` is what the check has stored of it."""

    setup = forms.CharField(
        label="Setup",
        required=False,
        max_length=LONGEST_NAME,
        help_text="The setup of all responses, if no column names it.",
    )
    save_as = forms.CharField(
        label="Save as",
        required=False,
        max_length=LONGEST_NAME,
        help_text="A name under which you can use this mapping again.",
    )

    def __init__(self, look: Mapping[str, Any], *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._columns: list[dict[str, Any]] = look["columns"]
        self._was = read_mapping(look["mapping"], is_whole=False)
        self.fields["setup"].initial = self._was.constants.get("setup", "")
        roles = [column["role"] for column in self._columns]
        for number, column in enumerate(self._columns):
            self._add_column(number, column, is_one_of_several=roles.count(column["role"]) > 1)
        self._place: Mapping[str, Any] = look.get("place") or NO_PLACE
        self._add_place()
        if look["kind"].startswith("CSV"):
            self._add_ways_of_writing()
        if look.get("has_system_messages") or self._was.system_messages:
            self.fields["system_messages"] = forms.ChoiceField(
                label="Messages of the system",
                choices=[("", "Left out"), *((role, ROLES[role].title) for role in EVIDENCE)],
                required=False,
                initial=self._was.system_messages,
                help_text="Raters see them only as evidence.",
            )

    def _add_column(
        self, number: int, column: Mapping[str, Any], *, is_one_of_several: bool
    ) -> None:
        name, role = column["name"], column["role"]
        self.fields[f"role-{number}"] = forms.ChoiceField(
            label=f"What {name} is", choices=ROLE_CHOICES, initial=role, required=False
        )
        if role not in NAMED or (role == "response" and not is_one_of_several):
            return
        self.fields[f"called-{number}"] = forms.CharField(
            label=f"{NAMED[role]} of {name}",
            initial=self._was.name_of(name),
            max_length=LONGEST_NAME,
        )
        if rater := self._was.rater_of(name):
            self.fields[f"rater-{number}"] = forms.CharField(
                label=f"Rater of {name}", initial=rater, max_length=LONGEST_NAME
            )
        if role in HOLD_VOTES:
            how = "yes_no, 1 to 5, or labels with commas; empty: by its answers"
            self.fields[f"scale-{number}"] = forms.CharField(
                label=f"Scale of {name} ({how})",
                initial=_written(self._was.scales.get(name, "")),
                max_length=LONGEST_ANSWER,
                required=False,
            )
        meant = self._was.values.get(name, {})
        for place, answer in enumerate(column["answers"]):
            self.fields[f"answer-{number}-{place}"] = forms.CharField(
                label=f"What {answer} means (empty: no vote)",
                initial=meant.get(answer, _usual_meaning(answer)),
                max_length=LONGEST_ANSWER,
                required=False,
            )

    def _add_place(self) -> None:
        """Add the fields for the place of the table, where there is something to choose."""
        there = {
            "sheet": [(title, title) for title in self._place["sheets"]],
            "header_line": self._place["lines"],
        }
        for name, _, _, _, choice in fields_of(PlaceChoices):
            choices, at = there[name], self._place[name]
            if len(choices) > 1:
                others = [] if at in dict(choices) else [(at, f"{at}: as chosen")]
                self.fields[name] = forms.ChoiceField(
                    label=choice.label, choices=[*others, *choices], required=False, initial=at
                )

    def _add_ways_of_writing(self) -> None:
        """Add the fields for the format of a CSV file, which is recognised but can be set."""
        for name, label, choices in (
            ("encoding", "Encoding", [("", "As chosen at the upload"), *ENCODINGS.items()]),
            ("delimiter", "Between columns", [("", "As found in the header"), *DELIMITERS.items()]),
            ("decimal", "Decimal sign", [(sign, sign) for sign in DECIMALS]),
        ):
            self.fields[name] = forms.ChoiceField(
                label=label, choices=choices, required=False, initial=getattr(self._was, name)
            )

    def columns(self) -> Iterator[MappedColumn]:
        """Yield the columns with their fields."""
        for number, column in enumerate(self._columns):
            called, rater, scale = (f"{what}-{number}" for what in ("called", "rater", "scale"))
            yield MappedColumn(
                column["name"],
                column["samples"],
                self[f"role-{number}"],
                self[called] if called in self.fields else None,
                self[rater] if rater in self.fields else None,
                self[scale] if scale in self.fields else None,
                [self[key] for key in self.fields if key.startswith(f"answer-{number}-")],
            )

    def place(self) -> list[BoundField]:
        """Return the fields for the place of the table in its file, if there are others."""
        return [self[name] for name in PlaceChoices._fields if name in self.fields]

    def ways_of_writing(self) -> list[BoundField]:
        """Return the fields for the format of a CSV file and for messages, where there are some."""
        names = (*WAYS_OF_WRITING, "system_messages")
        return [self[name] for name in names if name in self.fields]

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if not self.errors:
            mapping = self._other_place(cleaned) or self._mapping(cleaned)
            if not mapping.is_complete and not mapping.is_place:
                raise forms.ValidationError("Choose which column is the response.")
            try:
                cleaned["mapping"] = read_mapping(mapping.as_toml(), "Your choice").as_toml()
            except DatasetError as error:
                raise forms.ValidationError(f"{error}.") from error
        return cleaned

    def _other_place(self, cleaned: Mapping[str, Any]) -> ColumnMapping | None:
        """Return a mapping of another place, whose columns are not known. None: it is the same."""
        written = {key: cleaned[key] for key in WAYS_OF_WRITING if cleaned.get(key)}
        was = self._place["sheet"]
        sheet, line = cleaned.get("sheet") or was, int(cleaned.get("header_line") or 0)
        if sheet != was:
            return ColumnMapping(sheet=sheet, **written)
        if line not in (0, self._place["header_line"]):
            return ColumnMapping(sheet=sheet, header_line=line, **written)
        return None

    def _mapping(self, cleaned: Mapping[str, Any]) -> ColumnMapping:
        columns: dict[str, str] = {}
        names: dict[str, str] = {}
        raters: dict[str, str] = {}
        values: dict[str, dict[str, str]] = {}
        scales: dict[str, str | tuple[str, ...]] = {}
        for number, column in enumerate(self._columns):
            name, role = column["name"], cleaned.get(f"role-{number}")
            if not role:
                continue
            columns[name] = role
            called = cleaned.get(f"called-{number}", name)
            if role in NAMED and called != name:
                names[name] = called
            if role == "rater_votes" and cleaned.get(f"rater-{number}", name) != name:
                raters[name] = cleaned[f"rater-{number}"]
            meant = {
                answer: cleaned[key]
                for place, answer in enumerate(column["answers"])
                if (key := f"answer-{number}-{place}") in self.data
                and (cleaned[key] != answer or is_missing(answer))
            }
            if role in HOLD_VOTES and (scale := cleaned.get(f"scale-{number}")):
                was = self._was.scales.get(name, "")  # its labels may have commas
                scales[name] = was if scale == _written(was) else _read_scale(scale)
            if role in HOLD_VOTES and meant:
                values[name] = meant
        constants = {**self._was.constants, "setup": cleaned["setup"]}
        needs = self._was.needs
        return self._was._replace(
            columns=columns,
            names=names,
            raters=raters,
            values=values,
            scales=scales,
            constants={name: value for name, value in constants.items() if value},
            needs=needs if needs is not None and {*needs} <= {*columns} else None,
            encoding=cleaned.get("encoding", self._was.encoding),
            delimiter=cleaned.get("delimiter", self._was.delimiter),
            decimal=cleaned.get("decimal") or self._was.decimal,
            system_messages=cleaned.get("system_messages", self._was.system_messages),
        )


def _written(scale: str | tuple[str, ...]) -> str:
    return scale if isinstance(scale, str) else ", ".join(scale)


def _read_scale(text: str) -> str | tuple[str, ...]:
    labels = tuple(label.strip() for label in text.split(","))
    return labels if len(labels) > 1 else text.strip()


def _usual_meaning(answer: str) -> str:
    return "" if is_missing(answer) else answer
