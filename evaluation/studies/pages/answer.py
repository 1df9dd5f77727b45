"""The answer of a study in sentences: what raters found, what merging shifts, which metric agrees.

Every number is one of a report's rows. The sentences are written for each main question of the
scheme, one for each setup. While a study is being rated, the answer is *interim*: each sentence
says on how many responses it rests, and the arms are compared only over responses decided in both.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from annotation.models import Arm, Study
from annotation.schemes import Question, Scheme
from evaluation.reports.columns import Format
from evaluation.reports.numbers import decimal, p_in_words, percent, points
from evaluation.reports.report import ReportRow
from evaluation.reports.setups import short_names
from evaluation.reports.ties import if_ties_count_half, is_moved_by_ties, n_tied
from evaluation.runs.main_metrics import side_of
from evaluation.runs.names import signed_name
from evaluation.studies.figures.charts import decisions_said, people_said, run_names
from evaluation.studies.pages.shares_in_words import counted_share, in_brackets, whole
from evaluation.studies.pages.tables import in_order
from evaluation.studies.reports.agreement import AgreementRow
from evaluation.studies.reports.ceilings import CEILINGS
from evaluation.studies.reports.raters import RatersRow
from evaluation.studies.reports.scenarios import ScenarioRow, of_questions, without_replicate
from evaluation.studies.reports.study import Figures
from evaluation.studies.reports.uncertainty import (
    OverAllSetups,
    ShiftOfSetup,
    UncertaintyRow,
)

LEAST_OF_LEAD = 20  # decided responses behind an emphasised sentence of an interim answer
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
    tied: Mapping[str, int]  # arm → number of tied labels
    has_lead: bool = True  # whether the first sentence is emphasised

    @property
    def has_arms(self) -> bool:
        """Whether there are several arms, so that sentences must name them."""
        return len(self.tied) > 1

    @property
    def of_ties(self) -> str:
        """The sentence about tied labels; "" if there are none."""
        return _of_ties(self.tied)


def findings(study: Study, scheme: Scheme, figures: Figures) -> list[Finding]:
    """Return what raters found on each main question, and how far a metric agrees with them.

    The second separate arm only repeats the separate arm, so the sentences leave it out.
    """
    raters = without_replicate(figures.raters.rows)
    scenarios = without_replicate(of_questions(figures.scenarios.rows))
    return [
        Finding(
            question.key,
            question.wording,
            [
                *_of_raters(study, question, raters, scenarios, figures.uncertainty.rows),
                *_of_metrics(
                    [r for r in figures.agreement.rows if r.question == question.key],
                    _pinned(study, question.key),
                    is_interim=study.is_running,
                ),
            ],
            _by_arm([r for r in scenarios if r.question == question.key], "tied"),
            has_lead=not study.is_running
            or _n_of_lead(question, raters, scenarios, figures.uncertainty.rows) >= LEAST_OF_LEAD,
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
        yield from _of_extremes(question, rows, is_interim=study.is_running)
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
    yield from _not_counted(rows, is_interim=study.is_running)
    yield from _of_arms(question, uncertainty, is_interim=study.is_running)


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
        return f"No response{where} has a majority{needed} yet, so there is no number to report."
    if len(known) > 1 and shift and study.is_running:
        return _of_both_arms(question, known, shift, where)
    has_arms = len(rows) > 1 or rows[0].arm == Arm.Kind.MERGED
    said = _found(question, known[-1], where, has_arms=has_arms, is_interim=study.is_running)
    if len(known) > 1:
        said += f" and {_figure(question, known[0])}{_seen(known[0])}"
    elif len(rows) > 1:
        [missing] = [row for row in rows if row is not known[0]]
        said += f"; none has a majority{_seen(missing)} yet"
    if shift and len(known) > 1:
        said += f"; {_of_shift(shift)}"
    ties = [if_ties(r, "mean", f"the share{_seen(r) if has_arms else ''}") for r in known]
    if shift:
        ties.append(if_ties(shift, "shift", "the shift"))
    return f"{said}{''.join(ties)}."


def _of_both_arms(
    question: Question, rows: Sequence[ScenarioRow], shift: ShiftOfSetup, where: str
) -> str:
    """Return the interim sentence about a setup in two arms, over responses decided in both."""
    separate, merged = SEEN[Arm.Kind.SEPARATE], SEEN[Arm.Kind.MERGED]
    if not shift.n:
        decided = " and ".join(f"{row.n_mean:,}{_seen(row)}" for row in rows)
        return f"No response{where} is decided in both arms yet, but {decided}."
    yes = "yes for" if question.scale.kind == "yes_no" else f"yes ({shift.label}) for"
    decided = (
        f"{shift.n:,} responses{where} that are" if shift.n > 1 else f"1 response{where} that is"
    )
    said = (
        f"Of the {decided} decided in both arms, raters said {yes} "
        f"{shift.n_yes_merged:,} of {shift.n:,} {merged} and {shift.n_yes_separate:,} of "
        f"{shift.n:,} {separate}"
    )
    return f"{said}; {_of_shift(shift)}{if_ties(shift, 'shift', 'the shift')}."


def if_ties(row: ReportRow, name: str, what: str) -> str:
    """Return what a figure would be if ties counted half; "" where they hardly move it."""
    if not is_moved_by_ties(row, name):
        return ""
    value = row.value(f"{name}_ties_half")
    figure = f"{points(value)} points" if name == "shift" else whole(value)
    return f"; {what} would be {figure} {if_ties_count_half(n_tied(row))}"


def _found(
    question: Question, row: ScenarioRow, where: str, *, has_arms: bool, is_interim: bool
) -> str:
    seen = _seen(row) if has_arms else ""
    figure = _figure(question, row, is_interim=is_interim)
    if question.scale.kind == "ordinal":
        return f"The mean of the raters’ medians{where} is {figure}{seen}"
    if question.key in FOUND:
        return f"Raters found {figure} of the responses{where} {question.key}{seen}"
    return f"Raters answered yes for {figure} of the responses{where}{seen}"


def _figure(question: Question, row: ScenarioRow, *, is_interim: bool = False) -> str:
    """Return a mean with its interval: '79 % (59–90)', interim '40 % (4 of 10; 12–77)'."""
    if question.scale.kind == "ordinal":
        within = f" on the scale from {question.scale.labels[0]} to {question.scale.labels[-1]}"
        over = f"{row.n_mean:,} response{'s'[: row.n_mean != 1]}" if is_interim else ""
        return f"{decimal(row.mean.value)}{in_brackets(row.mean, Format.DECIMAL, over)}{within}"
    return counted_share(row.mean, row.n_mean, is_interim=is_interim, is_weighted=row.is_weighted)


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
        which = f"all {shift.n:,} responses" if shift.n > 1 else "the one response"
        return f"{which} rated in both arms got the same label"
    labels = f"{n_differ:,} differing label{'s'[: n_differ != 1]} of {shift.n:,}"
    if test.visible_shift is None:
        verb = "is" if n_differ == 1 else "are"
        return f"no difference shown; {labels} {verb} too few for any test"
    points_shown = percent(test.visible_shift, 0)
    return f"no difference shown; {labels} can only show one of {points_shown} points or more"


def _of_arms(
    question: Question, rows: Sequence[UncertaintyRow], *, is_interim: bool
) -> Iterator[str]:
    """Yield how often the labels of both arms are the same, when a study has both."""
    for row in rows:
        if isinstance(row, OverAllSetups) and row.question == question.key and row.n:
            same = counted_share(row.accuracy, row.n, is_interim=is_interim)
            differ = whole(row.disagreement.value)
            ties = if_ties(row, "accuracy", "the share with the same label")
            of_n = "the responses decided in both arms" if is_interim else f"{row.n:,} responses"
            yield (
                f"Side by side, {same} of {of_n} have the label that they have alone; "
                f"the disagreement is {differ}{ties}."
            )


def _of_extremes(
    question: Question, rows: Sequence[ScenarioRow], *, is_interim: bool
) -> Iterator[str]:
    """Yield the setups with the highest and with the lowest mean, of each arm."""
    names, arms = short_names(rows), in_order(row.arm for row in rows)
    for arm in arms:
        known = [row for row in rows if row.arm == arm and row.mean.value is not None]
        if not known:
            continue
        known.sort(key=lambda row: (-(row.mean.value or 0.0), row.setup))
        highest, lowest = known[0], known[-1]
        first = _found(
            question,
            highest,
            f" of {names[highest.setup]}",
            has_arms=len(arms) > 1,
            is_interim=is_interim,
        )
        last = f"{_figure(question, lowest, is_interim=is_interim)} of {names[lowest.setup]}"
        ties = [if_ties(r, "mean", f"that of {names[r.setup]}") for r in (highest, lowest)]
        yield (
            f"{first}, and {last}: the highest and the lowest of {len(known):,} "
            f"setups{''.join(ties)}."
        )


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


def _not_counted(rows: Sequence[ScenarioRow], *, is_interim: bool) -> Iterator[str]:
    """Yield what stands behind the shares: majorities that are missing, and assumed answers."""
    why = "still waiting for votes" if is_interim else "too few votes for a majority"
    yield from filter(None, [_in_no_share(why, _by_arm(rows, "waiting"))])
    yield from filter(None, [_of_ties(_by_arm(rows, "tied"))])
    if n := max((row.n_assumed for row in rows), default=0):
        yield f"Up to {n:,} responses of a setup had no evidence: they count as no, unrated."


def _by_arm(rows: Sequence[ScenarioRow], name: str) -> dict[str, int]:
    """Return the number of yes/no labels that are waiting, or tied, by arm, also where it is 0."""
    return {
        arm: sum(row.value(name) for row in rows if row.arm == arm and row.scale == "yes_no")
        for arm in in_order(row.arm for row in rows)
    }


def _of_ties(tied: Mapping[str, int]) -> str:
    return _in_no_share("tied with all votes in", tied)


def _in_no_share(why: str, by_arm_of_all: Mapping[str, int]) -> str:
    known = {arm: n for arm, n in by_arm_of_all.items() if n}
    if not known:
        return ""
    by_arm = " and ".join(f"{n:,} {SEEN[Arm.Kind(arm)]}" for arm, n in known.items())
    said = by_arm if len(by_arm_of_all) > 1 else f"{sum(known.values()):,}"
    return f"Left out, {why}: {said}."


def _n_of_lead(
    question: Question,
    raters: Sequence[RatersRow],
    scenarios: Sequence[ScenarioRow],
    uncertainty: Sequence[UncertaintyRow],
) -> int:
    """Return how many decided responses the smallest figure of the first sentence rests on."""
    if question.scale.kind == "nominal":
        row = next((each for each in raters if each.question == question.key), None)
        return sum(row.majorities.values()) if row else 0
    rows = [row for row in scenarios if row.question == question.key]
    if len({row.setup for row in rows}) <= MOST_SETUPS:
        rows = [row for row in rows if row.setup == rows[0].setup]
        first = (question.key, rows[0].setup if rows else "")
        for shift in uncertainty:
            if isinstance(shift, ShiftOfSetup) and (shift.question, shift.setup) == first:
                return shift.n
    return min((row.n_mean for row in rows if row.mean.value is not None), default=0)


# --- how far metrics agree ------------------------------------------------------------------


def _pinned(study: Study, question: str) -> str:
    """Return the run that is pinned for the side of a question, by `run_said`; "" for none."""
    side = side_of(question)
    return side.pinned(study.dataset) if side else ""


def _of_metrics(rows: Sequence[AgreementRow], pinned: str, *, is_interim: bool) -> Iterator[str]:
    """Yield how far a metric agrees with people, beside what it must beat.

    Args:
        rows: the rows of a question.
        pinned: the run to tell about, by `signed_name`; "": the one that agrees most.
        is_interim: whether raters still work on the study.
    """
    known = [row for row in rows if row.accuracy.value is not None]
    main = [
        row for row in known if signed_name(row.of_run.metric, row.of_run.run_signature) == pinned
    ]
    if pinned and rows and not main:
        yield f"The main metric of the dataset has no number here: {pinned}."
    if not known:
        return
    names = dict(zip(map(id, known), run_names([row.of_run for row in known]), strict=True))
    best = max(known, key=lambda row: (row.accuracy.value or 0.0, row.of_run.run))
    told = main[0] if main else best
    agrees = counted_share(told.accuracy, told.n, is_interim=is_interim)
    standing = ", as the main metric of the dataset" if main else ""
    if len(known) > 1 and told is best:
        standing += f", the highest of {len(known):,} metric runs"
    elif told is not best:
        highest = f"{names[id(best)]}, {whole(best.accuracy.value)}"
        standing += f"; the highest of {len(known):,} metric runs is {highest}"
    people = people_said(told.label, told.n_adjudicated)
    of_n = "the responses" if is_interim else f"{told.n:,} responses"
    said = f"{names[id(told)]} agrees with {people} on {agrees} of {of_n}"
    references = [f"Baseline (always the most frequent label): {whole(told.baseline.value)}"]
    references += [
        f"ceiling ({CEILINGS[key].how(told.ceilings.votes(key))}): "
        f"{whole(told.ceilings.of(key).value)}"
        for key in told.ceilings.defined[:1]
    ]
    ties = if_ties(told, "accuracy", "the agreement")
    yield f"{said}{standing}{ties}. {'; '.join(references)}."
    if told.n_adjudicated:
        yield f"{decisions_said(told.n_adjudicated)}."
    if told.flattered:
        yield "Its threshold was chosen on these votes, so this number is too optimistic."
    if told.of_controls.faults:
        yield f"It is unfit for these data: it {told.of_controls.faults}."
