"""The form of a study before it opens."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from django import forms
from django.db.models import QuerySet
from django.template.defaultfilters import pluralize

from accounts.access import Role
from accounts.forms import RowsField
from accounts.listing import on_offer
from accounts.models import User
from annotation.models import Arm, Study
from annotation.schemes import (
    USUAL_SCHEME,
    Scheme,
    SchemeError,
    built_in_schemes,
    load_scheme,
    read_scheme,
)
from annotation.services.studies import StudyError, scheme_to_rate_by
from annotation.study_plan import StudyPlan, usual_raters_per_unit
from generation.choices.declaration import fields_of
from generation.choices.folded_fields import Fold, FoldingForm, Told
from generation.choices.forms import explained, posted_fields
from generation.dataset_menus import datasets_with_responses
from generation.evidence import EvidenceChoice
from generation.models import Dataset, Example, Setup
from generation.setup_menus import SetupGroup, setup_menu

OWN_SCHEME = "own"
BOTH = "both"
ARMS_OF: Mapping[str, tuple[str, ...]] = {
    "separate": (Arm.Kind.SEPARATE,),
    "merged": (Arm.Kind.MERGED,),
    BOTH: (Arm.Kind.SEPARATE, Arm.Kind.MERGED),
    "replicated": (Arm.Kind.SEPARATE, Arm.Kind.SEPARATE_2),
    "all": (Arm.Kind.SEPARATE, Arm.Kind.SEPARATE_2, Arm.Kind.MERGED),
}
ARMS = {
    "separate": "Separate: each response alone",
    "merged": "Merged: all responses of an example together",
    BOTH: "Both, to see how comparing responses changes the answers",
    "replicated": "Separate, twice, to see how much two sets of raters differ",
    "all": "Both, and separate twice, to tell that change from noise (three groups of raters)",
}
FOLDS = {
    "material": Fold(
        "Evidence and sample",
        {
            "evidence_choice": Told(
                "",
                {
                    EvidenceChoice.SHOWN.value: "the evidence that the model was shown",
                    EvidenceChoice.GOLDEN.value: "golden evidence",
                    EvidenceChoice.RETRIEVED.value: "retrieved evidence",
                },
            ),
            "n_sampled": Told("a sample of {}", {"": "all dialogs"}),
        },
    ),
    "rating": Fold(
        "Raters per unit and texts",
        {
            "raters_per_unit": Told(
                "{} raters per unit", {"": "5 raters per unit, or 2 for citations"}
            ),
            "text_format": Told("", {"plain": "plain texts", "markdown": "rendered Markdown"}),
            "merged_layout": Told(""),
            "response_order": Told(""),
            "mixing": Told(""),
            "may_meet_both_arms": Told(""),
            "stops_when_decided": Told("", {"True": "it stops when the majority is decided"}),
            "full_share": Told(""),
        },
    ),
    "details": Fold(
        "Introduction and details",
        {
            "introduction": Told("", {"": "no introduction"}),
            "lease_minutes": Told("a unit stays reserved for {} minutes"),
            "seed": Told("seed {}"),
        },
    ),
}
LONGEST_SCHEME = 200_000  # characters
IN_ORDER = ("name", "setups", "n_sampled", "scheme", "own_scheme", "evidence_choice", "arms")
CHOICES = tuple(field.name for field in fields_of(StudyPlan))


class SchemeSelect(forms.Select):
    """Schemes to choose from, each marked with its need for evidence and what it asks about.

    The stylesheet uses these marks to hide the choices that make no sense for a scheme.
    """

    def __init__(self, schemes: Mapping[str, Scheme]) -> None:
        super().__init__()
        self.schemes = schemes

    def create_option(self, name: str, value: Any, *args: Any, **kwargs: Any) -> dict[str, Any]:
        option = super().create_option(name, value, *args, **kwargs)
        if scheme := self.schemes.get(value):
            option["attrs"] |= {"data-evidence": scheme.evidence, "data-target": scheme.target}
        return option


class SetupsField(RowsField):
    """Setups of a dataset to tick by group, each with its number of responses.

    In the group of a model, names do not repeat the model.
    """

    widget = forms.CheckboxSelectMultiple
    groups: Sequence[SetupGroup] = ()

    def offer(self, setups: QuerySet[Setup]) -> None:
        """Offer these setups, which have `n_responses`. They are read once."""
        self.queryset = setups
        self.groups = setup_menu(setups)
        self.choices = [
            (setup.pk, explained(name.removeprefix(f"{group.title} · "), _n_responses(setup)))
            for group in self.groups
            for setup, name in group.setups
        ]


def _n_responses(setup: Any) -> str:
    return f"{setup.n_responses:,} response{pluralize(setup.n_responses)}"


class RatersField(RowsField):
    """Raters to tick, by name and code."""

    widget = forms.CheckboxSelectMultiple

    def offer(self, users: QuerySet[User]) -> None:
        """Offer these users. They are read once, so that the page knows if there are none."""
        self.queryset = users
        self.choices = [(user.pk, explained(user.username, user.rater_code)) for user in users]


def setups_of(dataset: Dataset) -> QuerySet[Setup]:
    """Return a dataset's setups with `n_responses` each."""
    return Setup.objects.filter(dataset=dataset).of_benchmark().with_n_responses()


def n_dialogs_with_responses(dataset: Dataset) -> int:
    """Return the number of a dataset's dialogs that a sample can be drawn from."""
    of_dataset = Example.objects.of_benchmark().filter(dataset=dataset)
    dialogs = of_dataset.filter(responses__isnull=False).order_by().values("dialog")
    return dialogs.distinct().count()


def accounts_of_raters() -> QuerySet[User]:
    """Return all users whom a researcher may add to a study, sorted by name.

    Those who made their account by a study's link take part in that study alone, unless they join
    another one themselves.
    """
    raters = User.objects.filter(groups__name=Role.RATER, is_active=True, return_code_hash="")
    return raters.order_by("username")


class ChooseDatasetForm(forms.Form):
    """The first choice for a study: the dataset that its responses are taken from."""

    dataset = forms.ModelChoiceField(
        Dataset.objects.none(), to_field_name="slug", empty_label="Choose a dataset"
    )

    def __init__(self, chosen: Dataset | None) -> None:
        slug = chosen.slug if chosen else ""
        super().__init__(initial={"dataset": slug})
        offered = datasets_with_responses().filter(on_offer())
        self.fields["dataset"].queryset = offered  # type: ignore[attr-defined]


class StudyForm(FoldingForm):
    """A study before it opens. Only its name and one setup are required."""

    folds_declared = FOLDS

    name = forms.CharField(label="Name", max_length=100)
    setups = SetupsField(
        Setup.objects.none(), label="Setups", error_messages={"required": "Choose one or more."}
    )
    scheme = forms.ChoiceField(label="Questions", required=False, initial=USUAL_SCHEME)
    own_scheme = forms.CharField(
        label="The scheme as JSON",
        required=False,
        max_length=LONGEST_SCHEME,
        widget=forms.Textarea(attrs={"rows": 12, "class": "mono", "spellcheck": "false"}),
        help_text=(
            "An object with <code>key</code>, <code>title</code> and <code>questions</code>; each "
            "question has a <code>key</code>, a <code>wording</code>, a <code>scale</code>, a "
            "<code>help</code> text and worked <code>examples</code>."
        ),
    )
    arms = forms.ChoiceField(
        label="Arms",
        required=False,
        initial="separate",
        choices=list(ARMS.items()),
    )
    all_raters = forms.BooleanField(label="Every account with the rater role", required=False)
    raters = RatersField(User.objects.none(), label="Raters", required=False)

    def __init__(
        self, dataset: Dataset, *args: Any, study: Study | None = None, **kwargs: Any
    ) -> None:
        if study:
            kwargs.setdefault("initial", _initial(study))
        super().__init__(*args, **kwargs)
        self.dataset, self.study = dataset, study
        self.fields |= posted_fields(StudyPlan)
        self.order_fields(IN_ORDER)
        fields: Any = self.fields
        for name in CHOICES:
            fields[name].required = False
        setups = setups_of(dataset)
        fields["setups"].offer(setups)
        if len(setups) == 1:
            fields["setups"].initial = setups
        self.n_dialogs = n_dialogs_with_responses(dataset)
        fields["n_sampled"].widget.attrs["placeholder"] = f"all {self.n_dialogs:,}"
        schemes = {key: load_scheme(data) for key, data in built_in_schemes().items()}
        fields["scheme"].widget = SchemeSelect(schemes)
        fields["scheme"].choices = [
            *((key, f"{key}: {_about(scheme)}") for key, scheme in schemes.items()),
            (OWN_SCHEME, "Your own questions, as JSON"),
        ]
        if study:
            del fields["raters"], fields["all_raters"]
        else:
            fields["raters"].offer(accounts_of_raters())

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"]
        taken = Study.objects.filter(name=name)
        if (taken.exclude(pk=self.study.pk) if self.study else taken).exists():
            raise forms.ValidationError(
                f"There is already a study named {name}. Choose another name."
            )
        return name

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        for name, field in self.fields.items():
            if cleaned.get(name) in (None, "") and field.initial is not None:
                cleaned[name] = field.initial
        scheme = self._scheme(cleaned)
        if scheme:
            self._check_together(scheme, cleaned)
        return cleaned

    def _scheme(self, cleaned: dict[str, Any]) -> Scheme | None:
        """Put the scheme's data into `cleaned`, and return the scheme; None when it is refused."""
        is_own = cleaned.get("scheme") == OWN_SCHEME
        field = "own_scheme" if is_own else "scheme"
        if field in self.errors or "scheme" in self.errors:
            return None
        try:
            text = cleaned["own_scheme"]
            cleaned["data"] = read_scheme(text) if is_own else built_in_schemes()[cleaned["scheme"]]
            return scheme_to_rate_by(cleaned["data"])
        except SchemeError as error:
            self.add_error(field, f"{error}.")
        except StudyError as error:
            self.add_error(field, f"{error}.".replace("..", "."))
        return None

    def _check_together(self, scheme: Scheme, cleaned: dict[str, Any]) -> None:
        if scheme.target == "citation" and cleaned.get("arms") != "separate":
            self.add_error(
                "arms", f"{scheme.key} asks about single citations. Choose only Separate."
            )
        n_sampled = cleaned.get("n_sampled") or 0
        if scheme.target == "response" and n_sampled > self.n_dialogs:
            self.add_error(
                "n_sampled", f"The dataset has only {self.n_dialogs:,} dialogs with responses."
            )
        if "raters_per_unit" not in self.errors:
            usual = usual_raters_per_unit(scheme)
            cleaned["raters_per_unit"] = cleaned.get("raters_per_unit") or usual
            if scheme.target == "response" and cleaned["raters_per_unit"] % 2 == 0:
                self.add_error(
                    "raters_per_unit",
                    "Choose an odd number. With an even number, votes can be tied.",
                )

    def fields_to_fix(self) -> list[forms.BoundField]:
        """Return the fields with an error, in the order of the page."""
        return [field for field in self if field.errors]

    def plan(self) -> StudyPlan:
        """Return the plan of a valid form."""
        chosen = self.cleaned_data
        return StudyPlan(
            name=chosen["name"],
            dataset=self.dataset,
            scheme=chosen["data"],
            setups=list(chosen["setups"]),
            arms=ARMS_OF[chosen["arms"]],
            **{name: chosen[name] for name in CHOICES},
        )

    def chosen_raters(self) -> list[User]:
        """Return the raters of a valid form for a new study."""
        chosen = self.cleaned_data
        return list(accounts_of_raters() if chosen["all_raters"] else chosen["raters"])


def _about(scheme: Scheme) -> str:
    n_questions = len(scheme.questions)
    return f"{scheme.title}, {n_questions} question{'s' if n_questions > 1 else ''}"


def scheme_fields(study: Study) -> dict[str, str]:
    """Return the fields of the form that choose the scheme of a study."""
    key = study.scheme["key"]
    if built_in_schemes().get(key) == study.scheme:
        return {"scheme": key, "own_scheme": ""}
    own = json.dumps(study.scheme, indent=2, ensure_ascii=False)
    return {"scheme": OWN_SCHEME, "own_scheme": own}


def _initial(study: Study) -> dict[str, Any]:
    """Return the initial values of a planned study's form."""
    kinds = tuple(arm.kind for arm in study.arms.all())
    return {name: getattr(study, name) for name in ("name", *CHOICES)} | {
        "setups": list(study.setups.all()),
        **scheme_fields(study),
        "arms": next((name for name, arms in ARMS_OF.items() if set(arms) == set(kinds)), BOTH),
    }
