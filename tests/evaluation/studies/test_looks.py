"""Looks at a study that is still rated are counted, because intervals hold for one look."""

import pytest
from django.urls import reverse

from annotation.models import Study
from evaluation.studies.services.looks import count_look
from tests.evaluation.studies.hand_made import votes
from tests.makers import rated
from tests.shown import shown

pytestmark = pytest.mark.once
SAID = "looked at 3 times while rating went on"


def test_a_look_counts_while_raters_work_and_once_for_the_same_votes(tmp_path, researcher):
    study = rated(tmp_path, votes(e1="yyy", e2="nnn", e3="yyn"))  # 9 votes
    Study.objects.update(state=Study.State.OPEN)
    study.refresh_from_db()
    for n_votes in (4, 4, 6, 4):  # fewer votes are those of other choices
        count_look(study, n_votes)
    assert study.n_looks == 2

    page = reverse("evaluation:study", args=[study.slug])
    for _ in range(2):
        assert SAID in shown(researcher.get(page)).text

    Study.objects.update(state=Study.State.CLOSED)
    study.refresh_from_db()
    count_look(study, 20)
    assert study.n_looks == 3
    assert SAID in shown(researcher.get(page)).text
