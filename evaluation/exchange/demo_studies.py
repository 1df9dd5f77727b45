"""The studies of the demo: rated by simulated raters, wholly or in part.

They are imported like any other data, but for the open study, which is opened and rated here.
"""

import csv
import json
import shutil
from collections.abc import Iterable, Iterator, Mapping
from datetime import timedelta
from itertools import cycle
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from django.db import transaction
from django.utils import timezone

from accounts.access import Role
from accounts.models import User
from accounts.services import create_user
from annotation.guidelines import default_guideline
from annotation.models import Arm, Assignment, Rater, Study, Target
from annotation.rated_units import unit_to_judge
from annotation.schemes import built_in_schemes, load_scheme
from annotation.services.claiming import claim_next_unit
from annotation.services.rating import JudgedTarget, submit_votes
from annotation.services.studies import create_study, open_study
from annotation.study_plan import StudyPlan
from annotation.voting import Answer
from evaluation.exchange.demo_files import DATASET, DEMO_FILES, demo_rows
from evaluation.exchange.import_plan import plan_import
from evaluation.exchange.interchange import import_dataset
from evaluation.exchange.simulation import (
    JudgedResponse,
    SimulatedRater,
    SimulatedVote,
    simulated_judgement,
    simulated_raters,
    simulated_votes,
)
from generation.importers import open_material
from generation.models import Dataset, Example, Response

GUIDELINES = (
    "These raters are simulated: a program made their votes from an estimate of what careful "
    "people would answer. The numbers show how Attest works and say nothing about people or "
    "models."
)


class DemoStudy(NamedTuple):
    """One study whose votes are made up.

    `look_for` says what a reader may find in it.
    """

    name: str
    scheme: str
    has_merged_arm: bool
    is_evidence_needed: bool  # whether only setups are rated whose model was given evidence
    n_raters: int
    seed: int
    look_for: str
    raters_per_unit: int = 5
    one_careless_in: int = 6  # one of so many raters is careless


STUDIES = [
    DemoStudy(
        "Demo: attribution (simulated raters)",
        "AIS",
        True,
        True,
        12,
        41,
        "Look for what changes when a rater sees both responses side by side: the shift of each "
        "question, and the time saved.",
    ),
    DemoStudy(
        "Demo: sensibleness (simulated raters)",
        "SSA",
        False,
        False,
        12,
        42,
        "Look for responses that are sensible although their model was given no evidence.",
    ),
    DemoStudy(
        "Demo: one careless rater (simulated raters)",
        "AIS",
        False,
        True,
        3,
        44,
        "Look for the rater who is faster than reading, and for what happens to agreement "
        "without that rater's votes.",
        raters_per_unit=3,
        one_careless_in=3,
    ),
]
OPEN_STUDY = "Demo: rate these yourself"
OPEN_SEED = 43
OPEN_RATERS_PER_UNIT = 5
OTHER_RATERS = [f"demo-rater-{number}" for number in range(2, 11)]  # two arms of five, with 'rater'
RATED_SHARE = 0.5  # the part of the open study's assignments that is done
INTRODUCTION = (
    "Read a short dialog and its evidence, then answer seven yes/no questions: sometimes about "
    "one response, sometimes about two side by side. Nine simulated raters have rated about half "
    "of this study. Your units are all still there."
)


def import_study(study: DemoStudy) -> None:
    """Import the dataset with one study, in the same way as any other data."""
    with TemporaryDirectory(prefix="attest-demo-") as folder:
        write_interchange_folder(study, Path(folder))
        with open_material(Path(folder)) as material:
            import_dataset(material, plan_import(material, DATASET, study.name))
    Study.objects.filter(name=study.name).update(introduction=study.look_for)


def write_interchange_folder(study: DemoStudy, folder: Path) -> None:
    """Write the study and its simulated votes as interchange files, with what the dataset lacks.

    Rows that are there are left out, because an earlier version may have stored them with other
    content.
    """
    shutil.copyfile(DEMO_FILES / "dataset.json", folder / "dataset.json")
    for name, rows in (("examples", Example.objects), ("responses", Response.objects)):
        there = set(rows.filter(dataset__name=DATASET).values_list("key", flat=True))
        missing = [row for row in demo_rows(f"{name}.jsonl") if row["id"] not in there]
        lines = "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in missing)
        if lines:
            (folder / f"{name}.jsonl").write_text(lines, encoding="utf-8")
    scheme = built_in_schemes()[study.scheme]
    random = Random(study.seed)
    raters = simulated_raters(study.n_raters, random, study.one_careless_in)
    votes = simulated_votes(
        load_scheme(scheme),
        list(_responses(is_evidence_needed=study.is_evidence_needed)),
        raters,
        random,
        is_merged_too=study.has_merged_arm,
        raters_per_unit=study.raters_per_unit,
    )
    facts = {
        "scheme": study.scheme,
        "arms": ["separate", "merged"] if study.has_merged_arm else ["separate"],
        "raters_per_unit": study.raters_per_unit,
        "evidence_choice": "shown",
        "response_order": "random",
        "seed": study.seed,
        "guidelines": [{"version": 1, "text": GUIDELINES}],
        "simulated": True,
    }
    _write_json(folder / "scheme.json", scheme)
    _write_json(folder / "study.json", facts)
    _write_csv(folder / "votes.csv", SimulatedVote._fields, votes)
    _write_csv(folder / "raters.csv", ("rater", "simulated"), map(_rater_row, raters))


def _responses(*, is_evidence_needed: bool) -> Iterator[JudgedResponse]:
    for row in demo_rows("responses.jsonl"):
        if row["evidence_shown"] or not is_evidence_needed:
            yield JudgedResponse(
                key=row["id"],
                example=row["example"],
                temperature=row["setup"]["temperature"],
                n_words=len(row["text"].split()),
                truth=row["meta"]["truth"],
            )


def _rater_row(rater: SimulatedRater) -> tuple[str, str]:
    return rater.code, "yes"


def _write_json(path: Path, content: Mapping[str, Any]) -> None:
    path.write_text(json.dumps(content, indent=2, ensure_ascii=False), encoding="utf-8")


def _write_csv(path: Path, columns: Iterable[str], rows: Iterable[Iterable[object]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(rows)


# --- the open study -------------------------------------------------------------------------


@transaction.atomic
def open_demo_study(rater: str) -> None:
    """Open a study for a rater, and let nine simulated raters do about half of it.

    The rater and the nine are as many as the plan needs, and the rater has all units still to do.

    Args:
        rater: a user name; without such a rater, the study lacks one.
    """
    for name in OTHER_RATERS:
        if not User.objects.filter(username__iexact=name).exists():
            create_user(name, [Role.RATER], None)
    dataset = Dataset.objects.get(name=DATASET)
    with_evidence = dataset.setups.filter(
        responses__shown__isnull=False, responses__key__in=[each.key for each in _rateable()]
    )
    plan = StudyPlan(
        name=OPEN_STUDY,
        dataset=dataset,
        scheme=built_in_schemes()["AIS"],
        setups=list(with_evidence.distinct()),
        arms=[Arm.Kind.SEPARATE, Arm.Kind.MERGED],
        raters_per_unit=OPEN_RATERS_PER_UNIT,
        seed=OPEN_SEED,
        introduction=INTRODUCTION,
    )
    raters = User.objects.filter(username__in=[*OTHER_RATERS, rater], groups__name=Role.RATER)
    study = create_study(plan, default_guideline("AIS"), raters, None)
    open_study(study, None)
    _rate(study)


def _rateable() -> list[JudgedResponse]:
    return list(_responses(is_evidence_needed=True))


def _rate(study: Study) -> None:
    """Have the simulated raters rate one unit each in turn, until their share is done."""
    others = study.raters.filter(user__username__in=OTHER_RATERS)
    others.update(is_simulated=True)
    people = sorted(others.select_related("study", "user"), key=_number)
    made_up = simulated_raters(len(people), Random(OPEN_SEED))
    by_key = {response.key: response for response in _rateable()}
    targets = Target.objects.filter(units__arm__study=study).values_list("pk", "response__key")
    responses = {target: by_key[key] for target, key in targets}
    n_wanted = int(RATED_SHARE * study.assignments.count())
    turns = cycle(zip(people, made_up, strict=True))
    for _, (person, rater) in zip(range(n_wanted), turns, strict=False):
        _rate_next(person, rater, responses)


def _number(rater: Rater) -> int:
    """Return the place of a simulated rater, whose code differs between installations."""
    return OTHER_RATERS.index(rater.user.username) if rater.user else -1


def _rate_next(
    person: Rater, made_up: SimulatedRater, responses: Mapping[int, JudgedResponse]
) -> None:
    """Submit a simulated rater's votes on the next unit, if there is one for them."""
    assignment = claim_next_unit(person, has_just_submitted=True)
    shown = unit_to_judge(person, assignment.unit_id) if assignment else None
    if shown is None:
        return
    judged, seconds = [], 0.0
    for each in shown.responses:
        response = responses[each.target_id]
        judgement = simulated_judgement(
            shown.scheme,
            response,
            made_up,
            Random(f"{OPEN_SEED} {made_up.code} {response.key}"),
            each.position if shown.arm == Arm.Kind.MERGED else None,
        )
        answers = {
            question: Answer(value, question in judgement.implied)
            for question, value in judgement.answers.items()
        }
        judged.append(JudgedTarget(each.target_id, each.position, answers))
        seconds += judgement.seconds
    # A judgement never counts more time than has passed since its unit was claimed.
    Assignment.objects.filter(unit=shown.unit, rater=person).update(
        claimed_at=timezone.now() - timedelta(seconds=seconds)
    )
    submit_votes(shown.unit, person, judged, seconds)
