"""The words for things that reports leave out, and for the reasons."""

import re

# The keys are those of `Report.left_out`. A key that is missing here is shown as words.
REASONS = {
    "flagged_responses": ("flagged responses", "more than half of their raters flagged them"),
    "gold_items": ("gold items", "their answers were known before"),
    "surplus_votes": ("surplus votes", "their slot went to another rater"),
    "excluded_raters": (
        "excluded raters",
        "a researcher or the gold threshold excluded them, or they were imported as excluded",
    ),
    "excluded_votes": ("votes of excluded raters", "see the switch at the top"),
    "unrated_responses": ("unrated responses", "no rater has rated them yet"),
    "assumed": (
        "assumed responses",
        "nothing was shown or said, so they count as no without a rating",
    ),
    "waiting": (
        "waiting labels",
        "no answer has a majority yet, or a median is on the cut, and some votes are missing",
    ),
    "tied": (
        "tied labels",
        "all votes are in, but no answer has a majority, or a median is on the cut",
    ),
    "adjudicated": (
        "labels that decisions replace",
        "adjudicated decisions are the truth where there are any",
    ),
    "cannot_be_decided": (
        "labels that cannot be decided",
        "the adjudicated decision says so, or it is an answer on the cut",
    ),
    "implied_votes": ("implied votes", "a closed gate implies them, so agreement leaves them out"),
    "missing_behind_gates": (
        "missing votes behind gates",
        "a rater left the gate open or empty, or implied noes were left out",
    ),
    "items_outside_full_share": (
        "items that may have stopped early",
        "agreement and rater scores use only items that always get all raters",
    ),
    "labelled_by_one": ("labels of one side only", "they say nothing about a change"),
    "flips_not_listed": ("flipped labels without a row", "the first ones by key are listed"),
    "items_of_one_rater": (
        "items of one rater",
        "a metric and a rater are compared with the other raters of an item",
    ),
    "votes_on_the_cut": ("votes on the cut", "they are neither a yes nor a no"),
    "rated_in_one_arm": ("responses rated in one arm only", "there is nothing to compare with"),
    "replicate_waiting": (
        "labels waiting in one of the arms",
        "the second separate arm is compared only where every arm has a label",
    ),
    "replicate_tied": (
        "labels tied in one of the arms",
        "the second separate arm is compared only where every arm has a label",
    ),
    "not_rated_in_every_arm": (
        "responses that some arm has not rated",
        "the second separate arm is compared on the same responses as the merged arm",
    ),
    "undecidable_questions": (
        "questions without a yes and a no",
        "none of their labels means yes or no",
    ),
    "arms": ("arms that are missing", "merged against separate needs both arms"),
    "judgements_without_seconds": ("judgements without a time", "no time was recorded"),
    "votes_without_position": ("votes without a position", "no position was recorded"),
    "runs_without_threshold": (
        "metric runs without a threshold",
        "no threshold was given for these imported scores, so they have no labels",
    ),
    "unscored": ("targets without a score", "over all runs: they are not scored yet"),
    "failed": ("failed scores", "over all runs: a failure gives no score"),
    "assumed_scores": (
        "assumed scores",
        "over all runs: nothing was shown or said, so the score is 0 without asking",
    ),
    "candidates_without_part": (
        "candidates",
        "they are still being scored, or have too few scores",
    ),
    "not_scored_by_all": ("responses that not every candidate has scored", "the rows say how many"),
    "setups_without_ratings": (
        "setups without answers by raters on an axis",
        "assumed answers make no mark alone, if raters make an axis",
    ),
    "setups_without_calls": (
        "setups without calls",
        "they were imported or chosen among others, so their completions are not known",
    ),
    "failed_calls": ("failed calls", "they have no response"),
    "responses_about_a_graph": (
        "responses about a knowledge graph",
        "their citations are of numbers and marks, so debris is not looked for",
    ),
    "responses_not_looked_at": (
        "responses without a look for debris",
        "they were made before Attest looked",
    ),
    "pairs_without_f1": ("pairs without F1", "F1 is not defined for one of their setups"),
    "pairs_with_f1_0": (
        "pairs with F1 0 at both ends",
        "nothing is traded between two setups without attribution, or without sensibleness",
    ),
    "pairs_without_a_move": ("pairs without a move", "the rows say why"),
    "truncated_pairs": (
        "pairs with a shortened premise",
        "over all runs: they are counted here, but not left out",
    ),
}


def reason_text(reason: str, n: int = 0) -> str:
    """Return the words for things that a report leaves out: 'tied' → 'tied labels'.

    Args:
        reason: a key of `Report.left_out`.
        n: how many there are; one of them is 'tied label'.
    """
    return in_number(REASONS.get(reason, (reason.replace("_", " "), ""))[0], n)


def in_number(words: str, n: int) -> str:
    """Return words that begin with a plural for `n` things: 'answers without …' for several."""
    if n != 1:
        return words
    return re.sub(r"(ie)?s\b", lambda end: "y" if end[1] else "", words, count=1)
