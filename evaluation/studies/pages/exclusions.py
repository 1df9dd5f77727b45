"""What the figures on the page of a study are without, and why, in words."""

from typing import NamedTuple

from evaluation.reports.exclusions import REASONS
from evaluation.studies.reports.study import Figures

# The sections of the page and the report that each is made from.
SECTIONS = {
    "raters": "Rater agreement",
    "scenarios": "Questions by scenario",
    "uncertainty": "Merged against separate",
    "time": "Time",
    "position": "Position",
    "agreement": "Human–auto agreement",
    "sensibleness": "Sensibleness by slice",
}
NOT_LEFT_OUT = {"paired"}  # said for the record


class SectionLeftOut(NamedTuple):
    """What the figures of some sections are without."""

    n: int
    what: str
    why: str
    where: str


def left_out_lines(figures: Figures) -> list[SectionLeftOut]:
    """Return what is left out: how many, of what, why, and in which sections; most first."""
    found: dict[tuple[str, int], list[str]] = {}
    for report, section in SECTIONS.items():
        for name, n in figures.reports[report].left_out.items():
            if name not in NOT_LEFT_OUT and (n or not _is_somewhere(name, figures)):
                found.setdefault((name, n), []).append(section)
    lines = []
    for (name, n), sections in found.items():
        what, why = REASONS.get(name, (name.replace("_", " "), ""))
        where = "all" if len(sections) == len(SECTIONS) else ", ".join(sections)
        lines.append(SectionLeftOut(n, what, why, where))
    return sorted(lines, key=lambda line: -line.n)


def _is_somewhere(name: str, figures: Figures) -> bool:
    """Return whether any report leaves out some of these: then none says that it has none."""
    return any(figures.reports[report].left_out.get(name) for report in SECTIONS)
