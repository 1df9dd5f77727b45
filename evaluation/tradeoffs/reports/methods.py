"""The methods of the reports on a trade-off, as paragraphs for a paper."""

from evaluation.reports.methods import (
    F1_OF_SHARES,
    INTERVALS,
    MIXES,
    OF_INTERVALS,
    OF_JACKKNIFED,
    OF_SHARES,
    SHARES,
    Methods,
)

_AXES = (
    "Attribution is the share of examples labelled attributable, and sensibleness the share "
    "labelled sensible, or the mean scores if the reader chose them; the signature names the runs "
    "or raters that labelled. F1 is 2SA/(S + A) of the two shares (Aksitov et al., 2023, section "
    "6)."
)
_INTERVALS = f"{INTERVALS} {F1_OF_SHARES}"
_REFERENCES = ("aksitov", *OF_INTERVALS, *OF_JACKKNIFED)

COMPLETIONS = Methods(
    "Each setup is over all calls of its model, and a response is empty if it has no text. A "
    "completion is cut if it reached the limit of tokens. A response is debris if it goes on with "
    "the form of its prompt: it begins with the numbers of a turn, has a label of the prompt, has "
    "numbers alone that come again and again, or more than half of its words are in runs of six "
    "words that come more than once. Responses about a knowledge graph, and those made before this "
    f"was looked for, have no share of debris. All intervals are 95 %. {SHARES}",
    OF_SHARES,
)
DRIFT = Methods(
    "Two judgements of the same responses are compared: two runs of a metric, or the majorities of "
    "raters in two studies. The change is the share labelled yes after minus before, over the "
    "responses that both have labelled. The test exchanges both labels of whole dialogs "
    "at random (10,000 patterns of signs, seed {seed}; all patterns with up to 15 dialogs that "
    "differ). McNemar’s mid-p is given if each dialog has one response (Fagerland, Lydersen and "
    "Laake, 2013). Labels may flip both ways without a change, so the share that flips stands "
    f"beside it. All intervals are 95 %. {SHARES} {MIXES}",
    (*OF_SHARES, "zou", "fagerland"),
)
TRADEOFF = Methods(
    f"{_AXES} Each setup is over the examples that both axes label; responses without a label are "
    "left out and counted. Where raters label, assumed answers alone give a setup no numbers. A "
    "setup of which they answered only a part of the examples is marked as such. "
    f"{_INTERVALS}",
    _REFERENCES,
)
TAKEAWAYS = Methods(
    f"{_AXES} An effect is the mean over pairs of setups that differ in one respect only "
    "(history, evidence, size, temperature, instructions, passages, re-ranking) of the first minus "
    "the second. Each pair is over the examples that are labelled for both setups. Differences "
    "have expanded percentile bootstrap intervals over {resamples} resamples of whole dialogs, "
    "seed {seed} (Efron and Tibshirani, 1993; Hesterberg, 2015).",
    ("aksitov", "efron", "hesterberg"),
)
COMPARABLE = Methods(
    f"{_AXES} Two setups of one model and temperature are comparable if they differ only in their "
    "instructions, if their contexts have about the same length, if they have the same restricted "
    "share, or if they are aggregates of one pool (Aksitov et al., 2023, sections 7.3 and 7.6). "
    "The move between them is split at their middle into a part across the curves of equal F1 and "
    "a part along them. A move is named after the part that is more than twice the other, if its "
    "interval leaves out 0. Differences have expanded percentile bootstrap intervals over "
    "{resamples} resamples of whole dialogs, seed {seed} (Efron and Tibshirani, 1993; "
    "Hesterberg, 2015).",
    ("aksitov", "efron", "hesterberg"),
)
RESTRICTED = Methods(
    f"{_AXES} The newest turns and the first sentences of evidence were kept so that their shares "
    "add up to 1 (Aksitov et al., 2023, section 7.4), with golden evidence and with evidence that "
    "is not golden. The line of top 1 mixes the two curves by recall@1. The line of top k moves "
    "from evidence that is not golden to golden evidence at a smaller dialog share, by recall@k. "
    "The recalls are taken as given: no interval includes their own uncertainty. "
    f"{_INTERVALS} {MIXES}",
    (*_REFERENCES, "zou"),
)
RERANKING = Methods(
    f"{_AXES} For each example, one response of a pool of setups is chosen by a function of the "
    "two scores (Aksitov et al., 2023, section 7.5). The gain of the aggregate is its F1 minus "
    "that of the best single setup, and minus that of a choice at random, over the same examples. "
    "Choosing by a metric inflates that metric, so other axes may judge the aggregate; the "
    f"signature names both. {_INTERVALS}",
    _REFERENCES,
)
RECIPE = Methods(
    f"{_AXES} The recipe of Aksitov et al. (2023, section 7.7) asks a model with prompts of K "
    "passages for each K up to K2, until the first K1 passages are used, and takes a sensible "
    "response with the highest attribution. Rows are the first calls, each call alone, the stored "
    "aggregate, and the largest model with golden evidence. Differences in F1 are over the "
    f"examples that both sides have. {_INTERVALS}",
    _REFERENCES,
)
