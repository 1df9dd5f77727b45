"""The forms of a recipe: K1, K2 and the model, then what scores it."""

from collections.abc import Mapping
from itertools import count
from typing import Any

from django import forms

from accounts.http import query_string
from evaluation.runs.control_figures import unfit_among
from evaluation.runs.main_metrics import SIDES as AXIS_SIDES
from evaluation.tradeoffs.axes import Axes
from evaluation.tradeoffs.axis_menus import axis_menu
from evaluation.tradeoffs.recipe_plan import RecipeChoices, RecipePlan
from evaluation.tradeoffs.recipes import Recipe, newest_aggregate, responses_to_score
from evaluation.tradeoffs.scorers import (
    SIDES,
    Scorer,
    Scorers,
    Side,
    judge_beside,
    scorer_among,
    scorers_of,
)
from generation.choices.declaration import made, values_of
from generation.choices.folded_fields import Fold, FoldingForm, Told
from generation.choices.forms import posted_fields
from generation.forms.offered_models import offered_models
from generation.grids.grid_file import (
    GridChoices,
    GridError,
    Retrieval,
)
from generation.grids.recipe import recipe_grid
from generation.limits import LONGEST_NAME
from generation.models import Dataset, Grid, Sample

USUAL_BUDGET = 1024  # tokens
JUDGE = "judge_"  # prefix before the names of the sides
TITLES = {
    "attribution": "Attribution by",
    "sensibleness": "Sensibleness by",
    "judge_attribution": "Attribution judged by",
    "judge_sensibleness": "Sensibleness judged by",
}
_PLAIN = {"autocapitalize": "none", "autocomplete": "off"}


class RecipeForm(FoldingForm):
    """The form of a new recipe; K1 and K2 follow from a target and a budget where not typed."""

    folds_declared = {
        "passages": Fold(
            "Passages and tokens",
            {
                "k1": Told("K1 {}", {"": "K1 from the recall"}),
                "k2": Told("K2 {}", {"": "K2 from the tokens"}),
                "budget": Told("{} tokens of a prompt at most", {"": "no limit of tokens"}),
            },
        ),
        "asking": Fold(
            "Search, temperature and instructions",
            {
                "query": Told("searched by {}"),
                "temperature": Told("temperature {}"),
                "has_instructions": Told(
                    "", {"True": "with instructions", "False": "no instructions"}
                ),
            },
        ),
    }

    model = forms.ChoiceField(label="Model")
    sample = forms.ChoiceField(label="Examples", required=False)
    name = forms.CharField(
        label="Name of the grid",
        max_length=LONGEST_NAME,
        widget=forms.TextInput(attrs=_PLAIN),
    )

    def __init__(self, data: Mapping[str, Any], *, dataset: Dataset) -> None:
        super().__init__(data)
        self.fields |= posted_fields(RecipeChoices)
        self.models = offered_models()
        ready = dataset.samples.filter(state=Sample.State.DONE).order_by("name")
        self._samples = {sample.name: sample for sample in ready}
        self._offer("model", [(each.name, each.name) for each in self.models])
        named = [(name, f"Sample {name}") for name in self._samples]
        self._offer("sample", [("", f"All of {dataset.name}"), *named])

    def _offer(self, name: str, choices: list[tuple[str, str]]) -> None:
        field = self.fields[name]
        if not isinstance(field, forms.ChoiceField):
            raise TypeError(f"{name} is no field of choices")
        field.choices = choices

    @property
    def choices(self) -> RecipeChoices:
        """The choices that K1 and K2 follow from; usual values replace missing or wrong ones."""
        self.is_valid()
        sample = self._samples.get(self.cleaned_data.get("sample", ""))
        return made(RecipeChoices, self.cleaned_data | {"sample": sample})

    def grid(self, plan: RecipePlan) -> GridChoices | None:
        """Return the grid of a valid form; None: the form's errors say what is wrong."""
        for field, problem in plan.problems.items():
            self.add_error(field, problem)
        if self.errors or plan.k1 is None or plan.k2 is None:
            return None
        said = self.cleaned_data
        try:
            return recipe_grid(
                said["name"],
                said["model"],
                plan.k1,
                plan.k2,
                sample=said["sample"],
                budget=said["budget"],
                temperature=said["temperature"],
                has_instructions=said["has_instructions"],
                retrieval=Retrieval(query=said["query"]),
            )
        except GridError as error:
            self.refuse(error)
            return None

    def refuse(self, error: GridError) -> None:
        """Show what is wrong with the grid, beside the field."""
        field = error.field if error.field in self.fields else None
        self.add_error(field, f"Found {error.found}; expected {error.expected}.")

    @property
    def wrong_fields(self) -> list[forms.BoundField]:
        """The fields with a mistake, in the order shown."""
        return [field for field in self if field.errors]


def first_choices(dataset: Dataset) -> dict[str, Any]:
    """Return the values that the form shows first."""
    models = offered_models()
    return {
        "model": models[0].name if models else "",
        **values_of(RecipeChoices(budget=USUAL_BUDGET)),
        "name": _free_name(dataset),
    }


def _free_name(dataset: Dataset) -> str:
    """Return a name that no grid has yet, such as 'mill-recipe-1'."""
    stem = f"{dataset.slug[: LONGEST_NAME - 16]}-recipe"
    taken = set(Grid.objects.filter(name__startswith=stem).values_list("name", flat=True))
    return next(name for name in (f"{stem}-{n}" for n in count(1)) if name not in taken)


class ScorersForm(forms.Form):
    """The choice of scorers that re-rank a recipe's responses, and of scorers that judge them.

    The usual scorers are those that its newest aggregate was chosen by, if there is one. The usual
    judge is something that does not re-rank (`judge_beside`). `problems` has a sentence for each
    chosen scorer that does not exist. The usual one is then shown in its place, but must not be
    used.
    """

    def __init__(self, data: Mapping[str, Any], *, recipe: Recipe) -> None:
        super().__init__(data)
        dataset = recipe.dataset
        stored = newest_aggregate(recipe)
        self._stored: Mapping[str, Any] = stored.settings if stored else {}
        self.problems: list[str] = []
        self._there = {side: scorers_of(dataset, side) for side in SIDES}
        axes = [each.axis for there in self._there.values() for each in there if each.axis]
        self._unfit = unfit_among(axis.run for axis in axes if axis.run)
        self._asked: dict[str, Scorer | None] = {}
        for side in SIDES:
            self._offer(side, side)
            for name in (side, f"{JUDGE}{side}"):
                self._asked[name] = self._found(dataset, side, name)
        self._beside = self._usual_judges(recipe)
        for side, judge in self._beside.items():
            usually = (
                judge.title if judge else "the same metric, on the same responses (too optimistic)"
            )
            self._offer(f"{JUDGE}{side}", side, f"as usual: {usually}")

    def _offer(self, name: str, side: Side, first: str = "") -> None:
        """Offer the scorers of a side: axes that exist, then new runs."""
        there = self._there[side]
        [of_side] = [each for each in AXIS_SIDES if each.name == side]
        axes = [each.axis for each in there if each.axis]
        menu = axis_menu(axes, of_side, self._unfit)
        new = {each.key: each.title for each in there if not each.axis}
        choices = {**({"": first} if first else {}), **menu, **({"New runs": new} if new else {})}
        self.fields[name] = forms.ChoiceField(label=TITLES[name], choices=choices, required=False)

    def _found(self, dataset: Dataset, side: Side, name: str) -> Scorer | None:
        """Return the scorer that was asked for; None if none was, or if it does not exist.

        A scorer that does not exist is noted in `problems`.
        """
        key = self.data.get(name, "")
        if not key:
            return None
        try:
            return scorer_among(self._there[side], dataset, side, key)
        except LookupError:
            self.problems.append(f"{TITLES[name]} “{key[:80]}”: this does not exist.")
            return None

    def _usual_judges(self, recipe: Recipe) -> dict[Side, Scorer | None]:
        """Return the usual judge of each side; None: there is nothing but what re-ranks."""
        choosing = self.scorers
        if choosing is None:
            return dict.fromkeys(SIDES)
        responses = responses_to_score(recipe)
        return {side: judge_beside(recipe.dataset, side, choosing, responses) for side in SIDES}

    def _chosen(self, prefix: str) -> list[Scorer | None]:
        return [self._asked[f"{prefix}{side}"] for side in SIDES]

    def _usual(self, side: Side) -> Scorer | None:
        there = self._there[side]
        said = self._stored.get(side)
        of_stored = [each for each in there if each.axis and each.axis.said == said]
        return next(iter([*of_stored, *there]), None)

    @property
    def scorers(self) -> Scorers | None:
        """The scorers that re-rank; None if a side has nothing that could score it."""
        attribution, sensibleness = (
            chosen or self._usual(side)
            for chosen, side in zip(self._chosen(""), SIDES, strict=True)
        )
        return Scorers(attribution, sensibleness) if attribution and sensibleness else None

    @property
    def judges(self) -> Scorers | None:
        """The scorers that the figures are of; None if there are none that re-rank."""
        if self.scorers is None:
            return None
        attribution, sensibleness = (
            chosen or self._beside[side] or first
            for side, chosen, first in zip(SIDES, self._chosen(JUDGE), self.scorers, strict=True)
        )
        return Scorers(attribution, sensibleness)

    @property
    def without_judge(self) -> list[str]:
        """The sides without a chosen judge for which there is no judge but what re-ranks."""
        asked = zip(SIDES, self._chosen(JUDGE), strict=True)
        return [side for side, chosen in asked if not chosen and not self._beside[side]]

    @property
    def rows(self) -> list[tuple[forms.BoundField, str]]:
        """The fields with the keys that are chosen."""
        if self.scorers is None:
            return []
        chosen = dict(zip(Axes._fields, (each.key for each in self.scorers), strict=True))
        judging = {
            f"{JUDGE}{side}": each.key if each else ""
            for side, each in zip(SIDES, self._chosen(JUDGE), strict=True)
        }
        return [(self[name], key) for name, key in (chosen | judging).items()]

    @property
    def address(self) -> str:
        """These choices as an address has them, with a ? before."""
        return query_string({field.name: key for field, key in self.rows if key})
