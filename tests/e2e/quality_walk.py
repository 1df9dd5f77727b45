"""Stops at the pages of rater quality."""

from collections.abc import Iterator
from pathlib import Path

from django.urls import reverse

from accounts.models import User
from annotation.models import Rater
from annotation.services.study_raters import set_excluded
from tests.e2e.stops import ARABIC, SCRIPT, Stop
from tests.makers import rated, vote_row


def quality_stops(folder: Path, plans: User) -> Iterator[Stop]:
    """Yield all raters and one rater: without votes, with few, and with some who stand out."""
    answers = {f"r{n:02}": {"q": [("yes", "no")[n % 2]] * 4 + ["yes"]} for n in range(40)}
    timed = [
        vote_row(key, "in-a-hurry", "yes", "q", at=1000 + n, seconds=0.1)
        for n, key in enumerate(answers)
    ]
    marked = rated(folder / "marked", answers, name="Marked", more_votes=timed)
    few = rated(folder / "few", {"r1": {"q": ["yes", "no"]}}, name="Few votes")
    for study, code in ((few, "w1"), (marked, "w1"), (marked, "in-a-hurry")):
        rater = Rater.objects.get(study=study, code=code)
        one = reverse("evaluation:rater-of-study", args=[study.slug, rater.pk])
        yield Stop(f"{code} of {study.name}", plans, one)
    set_excluded(rater, True, f"{SCRIPT} {ARABIC}", plans)
    yield Stop("an excluded rater", plans, one)
    yield Stop("rater quality", plans, reverse("evaluation:rater-quality", args=[marked.slug]))
