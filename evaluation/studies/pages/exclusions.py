"""The votes, items and raters that figures on the page of a study leave out, and why, in words."""

from typing import NamedTuple

from annotation.models import Rater, Study
from evaluation.reports.exclusions import REASONS
from evaluation.studies.reports.study import Figures

# Report → the section of the page that is made from it.
SECTIONS = {
    "raters": "Rater agreement",
    "scenarios": "Questions by scenario",
    "uncertainty": "Merged against separate",
    "time": "Time",
    "position": "Position",
    "agreement": "Human–auto agreement",
    "sensibleness": "Sensibleness by slice",
}
NOT_LEFT_OUT = {"paired"}  # counts among those left out that leave nothing out of a figure


class SectionLeftOut(NamedTuple):
    """A number of things that the figures of some sections leave out, and the reason."""

    n: int
    what: str
    why: str
    where: str


def left_out_lines(figures: Figures) -> list[SectionLeftOut]:
    """Return a line for each reason and number, with its sections; the largest number first."""
    found: dict[tuple[str, int], list[str]] = {}
    for key, report in figures.reports.items():
        for name, n in report.left_out.items():
            if name not in NOT_LEFT_OUT and (n or not _is_somewhere(name, figures)):
                found.setdefault((name, n), []).append(SECTIONS[key])
    lines = []
    for (name, n), sections in found.items():
        what, why = REASONS.get(name, (name.replace("_", " "), ""))
        where = "all" if len(sections) == len(SECTIONS) else ", ".join(sections)
        lines.append(SectionLeftOut(n, what, why, where))
    return sorted(lines, key=lambda line: -line.n)


def excluded_raters(study: Study) -> list[Rater]:
    """Return the raters whose votes figures leave out, each with the reason that was given."""
    return list(study.raters.filter(is_excluded=True).order_by("code"))


def _is_somewhere(name: str, figures: Figures) -> bool:
    """Return whether any report leaves out something for this reason.

    If one does, the lines of reports that leave out 0 are not shown.
    """
    return any(report.left_out.get(name) for report in figures.reports.values())
