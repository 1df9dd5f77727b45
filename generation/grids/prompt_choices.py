"""The choices of a grid's prompts: which of them matter, and how a setup's settings keep them."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from generation.grids.grid_file import Query, Ranking
from generation.models import Setup
from generation.records import SetupRecord
from generation.retrieval.bm25 import Bm25
from generation.text.dialog_forms import FORMS, Form
from generation.text.dialog_prompts import Position
from generation.text.prompt_types import PromptType, prompt_type

# A setting of setups with restricted context: the evidence is the rest of the dialog share that is
# really kept. Setups without it were made when the evidence was the rest of the share asked for.
EVIDENCE_SHARE, REST_OF_KEPT = "evidence_share", "rest of kept"


class PromptError(ValueError):
    """Prompts that cannot be made as asked for: where, what was found, what was expected."""


class PromptChoices(NamedTuple):
    """A prompt type and everything else that changes its prompts."""

    type: PromptType
    position: Position = "before-dialog"
    budget: int | None = None  # tokens of a whole prompt, at most
    ranking: Ranking = "bm25"  # source of retrieved and top passages
    query: Query = "question"  # text to search by: the last turn, or all turns
    bm25: Bm25 = Bm25()
    seed: int = 0  # seed of everything that is drawn
    one_shot: str = ""  # key of the example for the demonstration; "": the paper's
    form: Form = "native"  # the form of the dialog


def draws(choices: PromptChoices) -> bool:
    """Return whether prompts depend on the seed."""
    if is_ranking_chosen(choices.type):
        return choices.ranking == "random"
    if choices.type.lacks_knowledge:
        return True
    return choices.type.evidence == "random" and choices.type.shows_passages


def what_matters(choices: PromptChoices) -> PromptChoices:
    """Return the choices, with defaults for those that change nothing in prompts of the type."""
    kind = choices.type
    is_searched = (kind.evidence == "next-best" and kind.shows_passages) or (
        is_ranking_chosen(kind) and choices.ranking == "bm25"
    )
    # Evidence before the dialog and before its last turn is the same if there is at most one turn,
    # except in messages, where the system's message comes before the user's.
    has_turns = kind.has_history or choices.form == "messages"
    has_turns = has_turns and kind.dialog_share != 0
    matters = {
        "position": kind.shows_passages and has_turns,
        "budget": True,
        "ranking": is_ranking_chosen(kind),
        "query": is_searched,
        "bm25": is_searched,
        "seed": draws(choices),
        "one_shot": kind.is_one_shot,
        "form": kind.graph is None,
    }
    return PromptChoices(
        kind, **{name: getattr(choices, name) for name, is_used in matters.items() if is_used}
    )


def settings_of(choices: PromptChoices) -> dict[str, Any]:
    """Return the settings of a setup with these prompts, apart from its type.

    Defaults and choices that change nothing in prompts of the type are left out. The keys are
    position, budget, ranking, query, idf, k1, b, seed, one_shot, form, and for restricted context
    `EVIDENCE_SHARE`. The native form is the default, because setups made before have it.
    """
    given, usual = _flat(what_matters(choices)), _flat(PromptChoices(choices.type))
    unusual = {name: value for name, value in given.items() if value != usual[name]}
    return unusual | ({EVIDENCE_SHARE: REST_OF_KEPT} if choices.type.cuts_evidence else {})


def form_of(setup: Setup | SetupRecord) -> Form:
    """Return the form of the dialogs in a setup's prompts. An import may have any setting."""
    return next((form for form in FORMS if setup.settings.get("form") == form), "native")


def is_of_earlier_rule(kind: PromptType, settings: Mapping[str, Any]) -> bool:
    """Return whether a setup's evidence was cut for the share asked for, by the earlier rule."""
    return kind.cuts_evidence and settings.get(EVIDENCE_SHARE) != REST_OF_KEPT


def choices_of(setup: Setup | SetupRecord) -> PromptChoices:
    """Return the choices that a setup was made with: the reverse of `settings_of`.

    Raises:
        PromptError: its prompt is no type, or was made by a rule that is no longer used.
    """
    try:
        kind = prompt_type(setup.prompt)
    except ValueError as exc:
        raise PromptError(f"{setup.name}: found {exc}") from exc
    if is_of_earlier_rule(kind, setup.settings):
        raise PromptError(
            f"{setup.name}: its evidence was cut for the requested dialog share, not for the share "
            "really kept. Prompts are no longer made this way. Plan a new grid"
        )
    usual = PromptChoices(kind)
    values = {name: setup.settings.get(name, value) for name, value in _flat(usual).items()}
    values["form"] = form_of(setup)
    bm25 = Bm25(**{name: values.pop(name) for name in Bm25._fields})
    return what_matters(usual._replace(bm25=bm25, **values))


def _flat(choices: PromptChoices) -> dict[str, Any]:
    """Return the choices beside the type, by their names in settings."""
    names = [name for name in choices._fields if name not in ("type", "bm25")]
    return {name: getattr(choices, name) for name in names} | choices.bm25._asdict()


def is_ranking_chosen(kind: PromptType) -> bool:
    """Return whether passages beside golden ones are taken from the chosen ranking or draw."""
    return kind.evidence == "top" or (kind.evidence == "retrieved" and kind.k > 1)


def uses_index(kind: PromptType) -> bool:
    """Return whether passages of the whole dataset are ranked or drawn."""
    is_other = kind.evidence in ("random", "next-best") and kind.shows_passages
    return is_other or is_ranking_chosen(kind)
