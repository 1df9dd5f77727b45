"""The forms of a new prompt search and of a new distillation."""

from typing import Any

from django import forms

from annotation.models import Study
from evaluation.jobs.services import JobError
from evaluation.models import MetricRun
from evaluation.runs.job_pages import encoders, language_models, slices, teachers
from evaluation.runs.services.distillation import (
    Data,
    DistillationPlan,
    check_run,
    data_of,
)
from evaluation.runs.services.prompt_search import SearchPlan, Slice, slice_of
from generation.choices.folded_fields import Fold, FoldingForm, Told
from generation.choices.forms import posted_fields
from generation.models import Checkpoint

_PLAIN = {"autocapitalize": "none", "autocomplete": "off"}


def _name(label: str, help_text: str) -> forms.CharField:
    return forms.CharField(
        label=label, max_length=60, help_text=help_text, widget=forms.TextInput(attrs=_PLAIN)
    )


class PromptSearchForm(FoldingForm):
    """A new prompt search: its slice, its model, and its number of examples."""

    folds_declared = {
        "examples": Fold(
            "Examples tried",
            {
                "n_examples": Told("{} examples", {"": "all rated examples"}),
                "seed": Told("in the order of seed {}"),
            },
        ),
    }

    slice = forms.ChoiceField(
        label="Slice",
        help_text="A question of a study, and the setup whose votes the search learns from.",
    )
    model = forms.ModelChoiceField(
        Checkpoint.objects.none(), label="Language model", to_field_name="name", empty_label=None
    )
    name = _name("Name of the prompt", "Runs and signatures show this name.")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields |= posted_fields(SearchPlan)
        self.fields["model"].queryset = language_models()  # type: ignore[attr-defined]
        self.slices = {
            f"{study.slug}/{question}/{setup}": f"{study.name}, {question}: {setup}"
            for study, question, setups in slices()
            for setup in setups
        }
        unchosen = {} if self.data.get("slice") else {"": "Choose one"}
        self.fields["slice"].choices = list((unchosen | self.slices).items())  # type: ignore[attr-defined]

    @property
    def is_possible(self) -> bool:
        """Whether there is a slice and a model to choose."""
        return bool(self.slices) and self.fields["model"].queryset.exists()  # type: ignore[attr-defined]

    def plan(self) -> SearchPlan:
        """Return the plan of a valid form."""
        chosen = self.cleaned_data
        study, question, setup = chosen["slice"].split("/", 2)
        return SearchPlan(
            study=Study.objects.get(slug=study),
            setup=setup,
            metric=question,
            spec=chosen["model"].spec(),
            name=chosen["name"],
            n_examples=chosen["n_examples"],
            seed=chosen["seed"],
        )

    def planned(self) -> Slice | None:
        """Return the examples of an incomplete form; None when its choices are too few for that."""
        self.is_valid()
        if not {"slice", "seed", "n_examples", "model"} <= set(self.cleaned_data):
            return None
        self.cleaned_data.setdefault("name", "")
        return slice_of(self.plan())


class DistillationForm(FoldingForm):
    """A new distillation: the run with the scores, the encoder, and the choices of the training."""

    folds_declared = {
        "training": Fold(
            "Training",
            {
                "epochs": Told("{} epochs", {"1": "1 epoch"}),
                "batch_size": Told("batches of {}"),
                "learning_rate": Told("learning rate {}"),
                "seed": Told("seed {}"),
            },
        ),
    }

    run = forms.ModelChoiceField(
        MetricRun.objects.none(),
        label="Run",
        empty_label="Choose one",
        help_text="The small model learns the scores of this run by a language model.",
    )
    base = forms.ModelChoiceField(
        Checkpoint.objects.none(),
        label="Encoder",
        to_field_name="name",
        empty_label=None,
        help_text="The model to start from. Its output is replaced by a new one.",
    )
    name = _name("Name of the new model", "Runs and signatures show this name.")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields |= posted_fields(DistillationPlan)
        self.fields["run"].queryset = teachers()  # type: ignore[attr-defined]
        self.fields["run"].label_from_instance = _run_in_words  # type: ignore[attr-defined]
        self.fields["base"].queryset = encoders()  # type: ignore[attr-defined]

    @property
    def is_possible(self) -> bool:
        """Whether there is a run and an encoder to choose."""
        fields: dict[str, Any] = self.fields
        return bool(fields["run"].queryset.exists() and fields["base"].queryset.exists())

    def plan(self) -> DistillationPlan:
        """Return the plan of a valid form."""
        chosen = {**self.cleaned_data}
        base = chosen.pop("base").spec()
        return DistillationPlan(base=base, **chosen)

    def data_there(self) -> Data | None:
        """Return the data that an incomplete form would teach; None when there is none.

        This is so when the run or the seed is missing, or when the run cannot be taught.
        """
        self.is_valid()
        run, seed = self.cleaned_data.get("run"), self.cleaned_data.get("seed")
        if run is None or seed is None:
            return None
        try:
            check_run(run)
        except JobError:
            return None
        return data_of(run, seed)


def _run_in_words(run: MetricRun) -> str:
    return f"{run.pk}: {run.metric} by {run.model_name or run.backend}, {run.dataset.name}"
