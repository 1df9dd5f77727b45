"""The figure that docs/metrics.md gives for the heuristic, on FED's rated replies."""

import pytest
from sklearn.metrics import roc_auc_score

from evaluation.measures.sensibleness import heuristic
from tests.published import fed_matrix, fed_replies, shared_folder

pytestmark = pytest.mark.skipif(
    not (shared_folder() / "data/fed").is_dir(), reason="FED is not there"
)


def test_the_heuristic_hardly_tells_appropriate_replies_from_others():
    ratings = fed_matrix(shared_folder())["semantically_appropriate"]
    is_best = [2 * votes.count("2") > len(votes) for votes in ratings]

    scores = [heuristic(turns, text) for turns, text in fed_replies(shared_folder())]

    assert (len(is_best), sum(is_best)) == (225, 197)
    assert round(float(roc_auc_score(is_best, scores)), 2) == 0.54
