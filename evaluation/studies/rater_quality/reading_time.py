"""The time that it takes to read what raters were shown, beside the time that they took.

People read 238 words a minute (see `annotation.rating_hours`). Each text counts at the first time
that a rater is shown it: the dialog and the evidence need not be read again for the next response
to the same example. If the order of the rater is not known, a text that they were shown more than
once does not count at all, so that the time is never too long. Only units that count are known
here: a text that was shown with a gold item before, or with a flagged response, counts again.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from django.db.models.functions import Length

from annotation.models import Study, UnitPassage
from annotation.rateable_responses import dialog_lengths, passage_lengths
from annotation.rating_hours import CHARACTERS_PER_SECOND
from evaluation.statistics.intervals import Floats, Indexes
from evaluation.statistics.rater_votes import Bools
from evaluation.studies.rater_quality.judgements import JudgedItem, RaterJudgements
from generation.evidence import evidence_of, graphs_of
from generation.models import Entity, Response
from generation.text.flat_graph import Triple

FAST = 0.25  # a unit that took less than this part of its reading time was not read

Triples = frozenset[Triple]
Text = tuple[str, int | Triples]  # the kind of a text, and its id, or the triples of a graph


class UnitTimes(NamedTuple):
    """Seconds of the units whose time is known; arrays are (n_units,)."""

    raters: Indexes
    n_responses: Indexes  # targets in the unit
    seconds: Floats
    reading: Floats  # 0: all was shown before

    @property
    def is_fast(self) -> Bools:
        """Whether a unit took less than `FAST` of its reading time."""
        fast: Bools = self.seconds < FAST * self.reading
        return fast


def unit_times(study: Study, judged: RaterJudgements) -> UnitTimes:
    """Return the time of each unit, and the time that it takes to read what was new in it."""
    starts = judged.form_starts()
    timed = starts[~np.isnan(judged.seconds[starts])]
    if not timed.size:
        nothing = np.zeros(0, np.int64)
        return UnitTimes(nothing, nothing, np.zeros(0), np.zeros(0))
    units, first, n = np.unique(judged.units[timed], return_index=True, return_counts=True)
    seconds = np.bincount(judged.units[timed], weights=judged.seconds[timed])[units].astype(float)
    characters = _new_characters(study, judged)
    reading = np.array([characters[unit] for unit in units.tolist()]) / CHARACTERS_PER_SECOND
    return UnitTimes(judged.of_rater[timed][first], n, seconds, reading)


def _new_characters(study: Study, judged: RaterJudgements) -> dict[int, int]:
    """Return the length of the texts in each unit that its rater had not been shown before."""
    shown = _shown(study, judged)
    lengths = _lengths(study)
    starts = judged.form_starts()
    texts_of: dict[tuple[int, int, int], set[Text]] = defaultdict(set)  # rater, turn, unit → texts
    for rater, turn, unit, item in zip(
        *(
            column[starts].tolist()
            for column in (judged.of_rater, judged.turns, judged.units, judged.of_item)
        ),
        strict=True,
    ):
        texts_of[rater, turn, unit].update(shown[item])
    n_times = Counter((rater, text) for (rater, *_), texts in texts_of.items() for text in texts)
    seen: set[tuple[int, Text]] = set()
    characters = {}
    for (rater, turn, unit), texts in sorted(texts_of.items(), key=lambda each: each[0]):
        characters[unit] = sum(
            _length(text, lengths)
            for text in texts
            if ((rater, text) not in seen if turn >= 0 else n_times[rater, text] == 1)
        )
        seen.update((rater, text) for text in texts)
    return characters


def _shown(study: Study, judged: RaterJudgements) -> list[list[Text]]:
    """Return the texts that are shown with each item: response, dialog and evidence."""
    texts: list[list[Text]] = [
        [("response", item.response_id), ("dialog", item.example_id)] for item in judged.items
    ]
    if judged.scheme.evidence != "none":
        passages = _passages(study, judged)
        graphs = _graphs(study, judged)
        for item, of_item in zip(judged.items, texts, strict=True):
            of_item += [("passage", pk) for pk in passages(item)]
            if graph := graphs.get(item.response_id):
                of_item.append(("graph", graph))
    return texts


def _passages(study: Study, judged: RaterJudgements) -> Callable[[JudgedItem], Sequence[int]]:
    """Return a function that returns the ids of the passages that were shown with an item."""
    if study.is_imported:
        of_dataset = Response.objects.filter(dataset=study.dataset_id)
        only = {item.response_id for item in judged.items}
        evidence = evidence_of(of_dataset, study.evidence_choice, only)
        return lambda item: evidence.get(item.response_id, ())
    of_units: dict[tuple[str, int], list[int]] = defaultdict(list)
    rows = UnitPassage.objects.filter(unit__arm__study=study).values_list(
        "unit__arm__kind", "unit__places__target", "passage"
    )
    for arm, target, passage in rows.order_by().iterator(chunk_size=20_000):
        of_units[arm, target].append(passage)
    return lambda item: of_units.get((item.arm, item.target_id), ())


def _graphs(study: Study, judged: RaterJudgements) -> dict[int, Triples]:
    """Return the triples that responses are judged against, by the response's id."""
    if not Entity.objects.filter(dataset=study.dataset_id).exists():
        return {}
    of_dataset = Response.objects.filter(dataset=study.dataset_id)
    only = {item.response_id for item in judged.items}
    graphs = graphs_of(of_dataset, study.evidence_choice, only)
    return {pk: frozenset(graph) for pk, graph in graphs}


def _lengths(study: Study) -> dict[str, Mapping[int, int]]:
    """Return the number of characters of each text but graphs, by its kind and its id."""
    responses = Response.objects.filter(dataset=study.dataset_id)
    return {
        "response": dict(responses.values_list("pk", Length("text"))),
        "dialog": dialog_lengths(study.dataset_id),
        "passage": passage_lengths(study.dataset_id),
    }


def _length(text: Text, lengths: Mapping[str, Mapping[int, int]]) -> int:
    kind, of = text
    if isinstance(of, int):
        return lengths[kind].get(of, 0)
    return sum(len(relation) + len(value) for _, relation, value in of)
