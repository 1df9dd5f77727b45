"""Sentences about what the answer of a study rests on: votes, responses, and work done."""

from collections.abc import Mapping

from annotation.models import Study
from evaluation.reports.numbers import percent
from evaluation.studies.reports.study import Figures
from evaluation.votes.all_responses import draw_of


def rests_on(study: Study, figures: Figures, done: Mapping[str, int] | None) -> list[str]:
    """Return in sentences what the answer rests on.

    Args:
        study: the study.
        figures: its figures.
        done: numbers of assignments, done as `n` and wanted as `of`; None for an imported study.
    """
    size = figures.overview
    said = [
        f"{size.n_votes:,} votes by {size.n_voters:,} rater{'s'[: size.n_voters != 1]} on "
        f"{size.n_rated:,} response{'s'[: size.n_rated != 1]} from {size.n_dialogs_rated:,} "
        f"dialog{'s'[: size.n_dialogs_rated != 1]}.",
        "Each response counts once, by the majority of its raters.",
        "In brackets: 95 % intervals, which resample dialogs.",
    ]
    if draw := draw_of(study):
        said.append(
            f"The seed drew {draw[0]:,} of {draw[1]:,} dialogs to be rated. The report "
            "Estimate from few labels adds what a metric says about the others."
        )
    if not study.has_uniform_draw:
        said.append("A metric’s scores made the draw, so means are weighted by 1 / probability.")
    if done and done["n"] < done["of"]:
        state = "was closed with" if study.state == Study.State.CLOSED else "has so far"
        said.append(f"The study {state} {done['n']:,} of {done['of']:,} judgements done.")
    if study.n_looks > 1:
        said.append(
            f"These numbers were looked at {study.n_looks:,} times while rating went on, and the "
            "intervals hold for one look."
        )
    if study.stops_when_decided:
        said.append(
            "Raters were no longer asked about a response once every majority was settled, "
            f"except on {percent(study.full_share, 0)}\N{NO-BREAK SPACE}% of the examples."
        )
    return said
