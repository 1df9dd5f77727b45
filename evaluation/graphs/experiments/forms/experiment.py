"""The forms with which one of KaLMA's experiments is asked and its answers are scored."""

from typing import Any, NamedTuple

from django import forms

from evaluation.backends.registry import BACKENDS
from evaluation.graphs.experiments.registry import KGExperiment
from evaluation.graphs.experiments.services import (
    GRAPHS,
    ExperimentPlan,
    ScoringPlan,
    grid_of,
    scoring_plans,
)
from evaluation.metrics.registry import METRICS
from evaluation.runs.choices import model_called, models_for, precisions_of
from evaluation.runs.model_checks import why_unusable
from generation.choices.declaration import ChoiceError
from generation.choices.folded_fields import Fold, FoldingForm, Told
from generation.choices.forms import posted_fields
from generation.forms.model_fields import ModelsForm
from generation.forms.number_lists import numbers, whole_numbers
from generation.grids.grid_file import HIGHEST_TEMPERATURE, GridError, GridModel
from generation.grids.question_graphs import askable
from generation.model_specs import Price
from generation.models import Checkpoint, Dataset, Sample


def listed(values: tuple[float, ...]) -> str:
    """Return numbers as a field for several numbers shows them: '0.1, 0.5'."""
    return ", ".join(f"{value:g}" for value in values)


class StartForm(ModelsForm):
    """The models to ask in an experiment, and how to ask them. Initial values are the paper's."""

    folds_declared = {
        "decoding": Fold(
            "Decoding",
            {
                "temperatures": Told("temperature {}"),
                "seeds": Told("seed {}"),
                "max_tokens": Told("{} new tokens at most"),
            },
        ),
    }

    models = forms.MultipleChoiceField(label="Models", widget=forms.CheckboxSelectMultiple)
    temperatures = numbers(
        "Temperatures", f"Comma-separated, each from 0 to {HIGHEST_TEMPERATURE:g}."
    )
    seeds = whole_numbers(
        "Seeds", "Comma-separated. Each seed makes one run. Rows are means over runs."
    )

    def __init__(
        self, dataset: Dataset, experiment: KGExperiment, *args: Any, **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self.dataset, self.experiment = dataset, experiment
        self.add_models()
        self.fields |= posted_fields(ExperimentPlan, self._known())
        self.fields["currency"].widget.attrs |= {"autocapitalize": "none", "autocomplete": "off"}
        if not experiment.has_choice_of_graph:
            del self.fields["graph"]
        self.fields["models"].initial = [model.name for model in self.offered[:1]]
        self.fields["temperatures"].initial = listed(experiment.temperatures)
        self.fields["seeds"].initial = listed(experiment.seeds)
        if not self.has_prices:
            del self.fields["currency"]

    def _known(self) -> dict[str, dict[str, str]]:
        """Return the samples that are ready, and the graphs that some question has, in words."""
        ready = self.dataset.samples.filter(state=Sample.State.DONE).order_by("name")
        samples = {name: f"Sample {name}" for name in ready.values_list("name", flat=True)}
        there = askable(self.dataset.pk)
        return {
            "sample": {"": f"All of {self.dataset.name}"} | samples,
            "graph": {graph: words for graph, words in GRAPHS.items() if there[graph]},
        }

    def clean(self) -> dict[str, Any]:
        """Check that a grid can be made of the choices. An error is shown at its field."""
        cleaned = super().clean() or {}
        self.check_prices(cleaned)
        if self.errors:
            return cleaned
        cleaned["plan"] = self._plan(cleaned)
        try:
            grid_of(self.dataset, cleaned["plan"])
        except GridError as error:
            self.refuse(error)
        return cleaned

    def refuse(self, error: GridError) -> None:
        """Show an error of the grid at its field."""
        words = f"Found {error.found}; expected {error.expected}."
        self.add_error(error.field if error.field in self.fields else None, words)

    def _plan(self, cleaned: dict[str, Any]) -> ExperimentPlan:
        usual = ExperimentPlan(self.experiment.key, ())
        models = (
            GridModel(data["name"], data["precision"], Price(**price) if price else None)
            for data in self.models_data(cleaned)
            for price in [data.get("price")]
        )
        return usual._replace(
            models=tuple(models),
            temperatures=cleaned["temperatures"],
            seeds=cleaned["seeds"],
            sample=cleaned["sample"],
            graph=cleaned.get("graph", usual.graph),
            max_tokens=cleaned["max_tokens"],
            currency=cleaned.get("currency", usual.currency),
        )

    def plan(self) -> ExperimentPlan:
        """Return the plan that a valid form describes."""
        plan: ExperimentPlan = self.cleaned_data["plan"]
        return plan


class _Offered(NamedTuple):
    """A model that may score, in one precision."""

    title: str
    name: str
    precision: str


class ScoreForm(FoldingForm):
    """The model that scores the answers of an experiment: an entailment model or a judge."""

    folds_declared = {
        "drawn": Fold(
            "Answers drawn",
            {
                "n_judged": Told(
                    "{} of each row", {"": "as many as the experiment has", "0": "all answers"}
                ),
                "seed": Told("seed {}"),
            },
        ),
    }

    model = forms.ChoiceField(label="Model")

    def __init__(self, experiment: KGExperiment, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.experiment = experiment
        judged = experiment.asked == "judge"
        self.fields["model"].label = "Judge" if judged else "Entailment by"
        self._offered = _offered(experiment)
        self.fields["model"].choices = [  # type: ignore[attr-defined]
            (key, offered.title) for key, offered in self._offered.items()
        ]
        if experiment.n_judged is not None:
            self.fields |= posted_fields(ScoringPlan)
            self.fields["n_judged"].initial = experiment.n_judged

    @property
    def can_score(self) -> bool:
        """Whether there is a model that can answer the metrics."""
        return bool(self._offered)

    @property
    def no_model_text(self) -> str:
        """The text that tells what to do if there is no such model."""
        metric = METRICS[self.experiment.metrics[0]]
        kinds = ", ".join(BACKENDS[key].title for key in metric.backends if key in BACKENDS)
        return (
            f"Only models that an admin has listed may score. Their kind must be one of: {kinds}."
        )

    def clean(self) -> dict[str, Any]:
        """Check that the choices can be used together, and check the model's files."""
        cleaned = super().clean() or {}
        if self.errors:
            return cleaned
        cleaned["plan"] = self._plan(cleaned)
        try:
            plans = scoring_plans(self.experiment.key, cleaned["plan"])
        except ChoiceError as error:
            self.add_error(error.field if error.field in self.fields else None, str(error))
        else:
            problems = [why_unusable(plan.spec, plan.metric.key) for plan in plans]
            if found := next(filter(None, problems), ""):
                self.add_error("model", found)
        return cleaned

    def _plan(self, cleaned: dict[str, Any]) -> ScoringPlan:
        _, name, precision = self._offered[cleaned["model"]]
        plan = ScoringPlan(model_called(name), precision)
        if "n_judged" not in self.fields:
            return plan
        return plan._replace(n_judged=cleaned["n_judged"], seed=cleaned["seed"])

    def plan(self) -> ScoringPlan:
        """Return the plan that a valid form describes."""
        plan: ScoringPlan = self.cleaned_data["plan"]
        return plan


def _offered(experiment: KGExperiment) -> dict[str, _Offered]:
    """Return the models that can answer an experiment's metrics, by two queries.

    The metrics of one experiment can all be answered by the same models.
    """
    if not experiment.metrics:
        return {}
    listed = dict(Checkpoint.objects.values_list("name", "backend"))
    found = {}
    for name, title in models_for(experiment.metrics[0]):
        precisions = precisions_of(listed.get(name, name))
        for precision in precisions:
            said = f"{title}, {precision}" if len(precisions) > 1 else title
            found[f"{name}|{precision}"] = _Offered(said, name, precision)
    return found
