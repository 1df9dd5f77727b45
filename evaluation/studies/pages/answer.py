"""The answer of a study in sentences: what raters found, what merging shifts, which metric agrees.

Every number is one of a report's rows. The sentences are written for each main question of the
scheme, one for each setup.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from annotation.models import Arm, Study
from annotation.schemes import Question, Scheme
from evaluation.reports.columns import Estimate, Format
from evaluation.reports.numbers import decimal, p_in_words, percent, points
from evaluation.reports.setups import short_names
from evaluation.studies.figures.charts import decisions_said, people_said, run_names
from evaluation.studies.pages.tables import in_order
from evaluation.studies.reports.agreement import AgreementRow
from evaluation.studies.reports.ceilings import CEILINGS
from evaluation.studies.reports.raters import RatersRow
from evaluation.studies.reports.scenarios import ScenarioRow, without_replicate
from evaluation.studies.reports.study import Figures
from evaluation.studies.reports.uncertainty import (
    OverAllSetups,
    ShiftOfSetup,
    UncertaintyRow,
)
from evaluation.votes.all_responses import draw_of

MOST_SETUPS = 4  # setups with a sentence each; of more, the highest and the lowest are named
# The papers' questions whose key completes the sentence 'Raters found the response …'.
FOUND = {"attributable", "consistent", "interpretable", "relevant", "sensible", "specific"}
SEEN = {
    Arm.Kind.SEPARATE: "alone",
    Arm.Kind.SEPARATE_2: "alone",
    Arm.Kind.MERGED: "side by side",
}


class Finding(NamedTuple):
    """The answer of a study to one main question: its key, its wording, and the sentences."""

    question: str
    wording: str
    sentences: list[str]
    undecided: Mapping[str, int]  # arm → number of labels without a majority

    @property
    def has_arms(self) -> bool:
        """Whether there are several arms, so that sentences must name them."""
        return len(self.undecided) > 1

    @property
    def no_majority(self) -> str:
        """The sentence about labels without a majority; "" if each has one."""
        return _no_majority(self.undecided)


def findings(study: Study, scheme: Scheme, figures: Figures) -> list[Finding]:
    """Return what raters found on each main question, and how far a metric agrees with them.

    The second separate arm only repeats the separate arm, so the sentences leave it out.
    """
    raters = without_replicate(figures.raters.rows)
    scenarios = without_replicate(figures.scenarios.rows)
    return [
        Finding(
            question.key,
            question.wording,
            [
                *_of_raters(study, question, raters, scenarios, figures.uncertainty.rows),
                *_of_metrics([r for r in figures.agreement.rows if r.question == question.key]),
            ],
            _undecided([r for r in scenarios if r.question == question.key]),
        )
        for question in scheme.main_questions
    ]


# --- what raters found ----------------------------------------------------------------------


def _of_raters(
    study: Study,
    question: Question,
    raters: Sequence[RatersRow],
    scenarios: Sequence[ScenarioRow],
    uncertainty: Sequence[UncertaintyRow],
) -> Iterator[str]:
    rows = [row for row in scenarios if row.question == question.key]
    by_setup: dict[str, list[ScenarioRow]] = {}
    for row in rows:
        by_setup.setdefault(row.setup, []).append(row)
    if question.scale.kind == "nominal":
        yield from _of_answers([r for r in raters if r.question == question.key])
        return
    if len(by_setup) > MOST_SETUPS:
        yield from _of_extremes(question, rows)
    else:
        shifts = {
            row.setup: row
            for row in uncertainty
            if isinstance(row, ShiftOfSetup) and row.question == question.key
        }
        names = short_names(rows)
        for setup, of_setup in by_setup.items():
            where = f" of {names[setup]}" if len(by_setup) > 1 else ""
            yield _of_setup(study, question, of_setup, shifts.get(setup), where)
    yield from _not_counted(rows)
    yield from _of_arms(question, uncertainty)


def _of_setup(
    study: Study,
    question: Question,
    rows: Sequence[ScenarioRow],
    shift: ShiftOfSetup | None,
    where: str,
) -> str:
    """Return the sentence about one setup.

    Args:
        rows: the setup's rows, one for each arm.
        where: the setup in words, such as ' of T 0.0'; "" when there is only one.
    """
    known = [row for row in rows if row.mean.value is not None]
    if not known:
        n_rated = sum(row.n for row in rows)
        if not n_rated:
            return f"No rater has judged a response{where} yet."
        needed = f" of its {study.raters_per_unit} raters" if study.raters_per_unit else ""
        return f"No response{where} has a majority{needed} yet, so there is no figure to report."
    has_arms = len(rows) > 1 or rows[0].arm == Arm.Kind.MERGED
    said = _found(question, known[-1], where, has_arms=has_arms)
    if len(known) > 1:
        said += f" and {_figure(question, known[0])}{_seen(known[0])}"
    elif len(rows) > 1:
        [missing] = [row for row in rows if row is not known[0]]
        return f"{said}; none has a majority{_seen(missing)} yet."
    return f"{said}; {_of_shift(shift)}." if shift else f"{said}."


def _found(question: Question, row: ScenarioRow, where: str, *, has_arms: bool) -> str:
    seen = _seen(row) if has_arms else ""
    figure = _figure(question, row)
    if question.scale.kind == "ordinal":
        return f"The mean of the raters’ medians{where} is {figure}{seen}"
    if question.key in FOUND:
        return f"Raters found {figure} of the responses{where} {question.key}{seen}"
    return f"Raters answered yes for {figure} of the responses{where}{seen}"


def _figure(question: Question, row: ScenarioRow) -> str:
    """Return a mean with its interval: '79 % (59–90)'."""
    if question.scale.kind == "ordinal":
        within = f" on the scale from {question.scale.labels[0]} to {question.scale.labels[-1]}"
        return f"{decimal(row.mean.value)}{_interval(row.mean, Format.DECIMAL)}{within}"
    return f"{_whole(row.mean.value)}{_interval(row.mean)}"


def _whole(share: float | None) -> str:
    """Return a share in whole percent, which no line break parts from its sign."""
    return f"{percent(share, 0)}\N{NO-BREAK SPACE}%"


def _interval(estimate: Estimate, format: Format = Format.PERCENT) -> str:
    low, high = estimate.low, estimate.high
    if low is None or high is None:
        return ""
    if format is Format.PERCENT:
        return f" ({percent(low, 0)}–{percent(high, 0)})"
    return f" ({format.interval(estimate)})"


def _seen(row: ScenarioRow) -> str:
    return f" {SEEN[Arm.Kind(row.arm)]}"


def _of_shift(shift: ShiftOfSetup) -> str:
    """Return what merging does to the labels of one setup, in words."""
    test = shift.test
    if not shift.n:
        return "no response has a label in both arms, so the two cannot be compared"
    if test.is_significant:
        estimate = shift.shift
        change = f"{points(estimate.value)} points ({Format.POINTS.interval(estimate)})"
        return f"merging shifts the share of yes by {change}, {p_in_words(test.p_holm)}"
    n_differ = shift.n_up + shift.n_down
    if not n_differ:
        which = f"each of {shift.n:,} responses" if shift.n > 1 else "the one response with both"
        return f"{which} has the same label both times"
    said = f"no shift could be shown, and with {n_differ:,} of {shift.n:,} labels differing"
    if test.visible_shift is None:
        return f"{said} none could have been"
    return f"{said} only one of {percent(test.visible_shift, 0)} points or more could have been"


def _of_arms(question: Question, rows: Sequence[UncertaintyRow]) -> Iterator[str]:
    """Yield how often the labels of both arms are the same, when a study has both."""
    for row in rows:
        if isinstance(row, OverAllSetups) and row.question == question.key and row.n:
            same = f"{_whole(row.accuracy.value)}{_interval(row.accuracy)}"
            differ = _whole(row.disagreement.value)
            yield (
                f"Side by side, {same} of {row.n:,} responses have the label that they have alone; "
                f"the disagreement is {differ}."
            )


def _of_extremes(question: Question, rows: Sequence[ScenarioRow]) -> Iterator[str]:
    """Yield the setups with the highest and with the lowest mean, of each arm."""
    names, arms = short_names(rows), in_order(row.arm for row in rows)
    for arm in arms:
        known = [row for row in rows if row.arm == arm and row.mean.value is not None]
        if not known:
            continue
        known.sort(key=lambda row: (-(row.mean.value or 0.0), row.setup))
        highest, lowest = known[0], known[-1]
        first = _found(question, highest, f" of {names[highest.setup]}", has_arms=len(arms) > 1)
        last = f"{_figure(question, lowest)} of {names[lowest.setup]}"
        yield f"{first}, and {last}: the highest and the lowest of {len(known):,} setups."


def _of_answers(rows: Sequence[RatersRow]) -> Iterator[str]:
    """Yield the most frequent majority of each arm. Nominal answers have no mean."""
    for row in rows:
        label, n = max(row.majorities.items(), key=lambda pair: pair[1], default=("", 0))
        name, seen = label.removeprefix("majority_"), SEEN[Arm.Kind(row.arm)]
        n_all = sum(row.majorities.values())
        if n:
            yield f"The most frequent majority {seen} is “{name}”: {n:,} of {n_all:,} majorities."
        else:
            yield f"No response seen {seen} has a majority yet."


def _not_counted(rows: Sequence[ScenarioRow]) -> Iterator[str]:
    """Yield what stands behind the shares: majorities that are missing, and assumed answers."""
    if said := _no_majority(_undecided(rows)):
        yield said
    if n := max((row.n_assumed for row in rows), default=0):
        yield f"Up to {n:,} responses of a setup had no evidence: they count as no, unrated."


def _undecided(rows: Sequence[ScenarioRow]) -> dict[str, int]:
    """Return the number of yes/no labels without a majority by arm, also where it is 0."""
    return {
        arm: sum(row.undecided for row in rows if row.arm == arm and row.scale == "yes_no")
        for arm in in_order(row.arm for row in rows)
    }


def _no_majority(undecided: Mapping[str, int]) -> str:
    known = {arm: n for arm, n in undecided.items() if n}
    if not known:
        return ""
    by_arm = " and ".join(f"{n:,} {SEEN[Arm.Kind(arm)]}" for arm, n in known.items())
    said = by_arm if len(undecided) > 1 else f"{sum(known.values()):,}"
    return f"No majority, and so in no share: {said}."


# --- how far metrics agree ------------------------------------------------------------------


def _of_metrics(rows: Sequence[AgreementRow]) -> Iterator[str]:
    """Yield how far the metric that agrees most with people does, beside what it must beat."""
    known = [row for row in rows if row.accuracy.value is not None]
    if not known:
        return
    names = dict(zip(map(id, known), run_names([row.of_run for row in known]), strict=True))
    best = max(known, key=lambda row: (row.accuracy.value or 0.0, row.of_run.run))
    agrees = f"{_whole(best.accuracy.value)}{_interval(best.accuracy)}"
    highest = f", the highest of {len(known):,} metric runs" if len(known) > 1 else ""
    people = people_said(best.label, best.n_adjudicated)
    said = f"{names[id(best)]} agrees with {people} on {agrees} of {best.n:,} responses"
    references = [f"always the more frequent label, {_whole(best.baseline.value)}"]
    references += [
        f"{CEILINGS[key].how}, {_whole(best.ceilings.of(key).value)}"
        for key in best.ceilings.defined[:1]
    ]
    yield f"{said}{highest}. To compare: {'; '.join(references)}."
    if best.n_adjudicated:
        yield f"{decisions_said(best.n_adjudicated)}."
    if best.flattered:
        yield "Its threshold was chosen on these votes, so this figure is too optimistic."


# --- what the answer rests on ---------------------------------------------------------------


def rests_on(study: Study, figures: Figures, done: Mapping[str, int] | None) -> list[str]:
    """Return in sentences what the answer rests on.

    Args:
        study: the study.
        figures: its figures.
        done: numbers of assignments, done as `n` and wanted as `of`; None for an imported study.
    """
    size = figures.overview
    said = [
        f"{size.n_votes:,} votes by {size.n_raters:,} raters on {size.n_responses:,} responses "
        f"from {size.n_dialogs:,} dialogs.",
        "Each response counts once, by the majority of its raters.",
        "In brackets: 95 % intervals, as if the dialogs were drawn anew.",
    ]
    if draw := draw_of(study):
        said.append(
            f"The seed drew {draw[0]:,} of {draw[1]:,} dialogs to be rated. The report "
            "Few labels adds what a metric says about the others."
        )
    if done and done["n"] < done["of"]:
        state = "was closed with" if study.state == Study.State.CLOSED else "has so far"
        said.append(f"The study {state} {done['n']:,} of {done['of']:,} judgements done.")
    if study.stops_when_decided:
        said.append(
            "Raters were no longer asked about a response once every majority was settled, "
            f"except on {_whole(study.full_share)} of the examples."
        )
    return said
