"""The methods of the reports on a study, as paragraphs for a paper."""

from evaluation.reports.methods import (
    INTERVALS,
    JACKKNIFED,
    MIXES,
    OF_INTERVALS,
    OF_JACKKNIFED,
    OF_SHARES,
    SHARES,
    Methods,
)
from evaluation.statistics.rogan_gladen import LEAST_DIALOGS, LEAST_DISCRIMINATION, LEAST_ITEMS

_MAJORITY = (
    "The label of an item is what more than half of its raters answered. Other items wait for "
    "votes or are tied: both are counted, and beside each number stands what it would be if tied "
    "items counted half."
)
_LEFT_OUT = (
    "Flagged responses, gold items, surplus votes and votes of excluded raters are left out and "
    "counted."
)

RATERS = Methods(
    f"Each question has the mean of its majority votes, or of its medians if its scale is ordinal. "
    f"{_MAJORITY} Agreement between raters is percent agreement over all pairs of votes on the "
    "same item, Fleiss’ kappa over the items with the most frequent number of votes (Fleiss, "
    "1971), and Krippendorff’s alpha, nominal or ordinal, over items with two votes or more "
    "(Krippendorff, 2011). Beside them are Gwet’s AC1, or AC2 with ordinal weights (Gwet, 2008), "
    "for yes/no questions the prevalence and bias indices (Byrt et al., 1993), and for ordinal "
    "ones ICC(2,1) and ICC(2,k) over the items that the same raters judged (Shrout and Fleiss, "
    "1979). Unless the reader chose otherwise, agreement uses given votes only, "
    f"while means also use the noes that a closed gate implies. {_LEFT_OUT} {INTERVALS} "
    f"{JACKKNIFED}",
    ("fleiss", "krippendorff", "gwet", "byrt", "shrout", *OF_INTERVALS, *OF_JACKKNIFED),
)
SCENARIOS = Methods(
    "A scenario is a setup in an arm, as scenarios A to D of Aksitov et al. (2023, section 4.3). "
    "Each has the mean of its majority votes per question, or of its medians if the scale is "
    f"ordinal. {_MAJORITY} Answers that are assumed count as no. Sensibleness and Specificity "
    "Average (SSA), where the questions are asked, is the mean of the means of both (Adiwardana et "
    "al., 2020): once of majority votes, and once of the mean shares of yes votes per item. Its "
    "intervals are made of the Wilson intervals of both questions (Zou and Donner, 2008). If "
    "dialogs were drawn with different probabilities, items count with the weight 1 / probability "
    f"(Hájek, 1971). {_LEFT_OUT} {INTERVALS}",
    ("aksitov", "adiwardana", "zou", "hajek", *OF_INTERVALS),
)
UNCERTAINTY = Methods(
    "The same responses were rated separately and merged. Accuracy is the share of responses "
    "whose merged label equals the separate label, which is taken as the truth (Aksitov et al., "
    "2023, section 4.3); disagreement is 1 − accuracy. The shift of a setup is the difference of "
    "its two shares of yes over the same responses. McNemar’s exact test tests it, with Holm’s "
    "correction over the questions of the setup (McNemar, 1947; Holm, 1979). Whether merging "
    "favours a setup is tested by exchanging the two arms within whole dialogs at random, on the "
    "shift of its rater scores minus the mean shift of the other setups; Holm corrects over the "
    "questions, and more than two setups are corrected by Bonferroni. If a second set of raters "
    "judged the same responses separately, its disagreement with the first is subtracted from that "
    "of merged labels; the intervals of this difference and of shifts are made of the Wilson "
    f"intervals of both shares (Zou and Donner, 2008). {INTERVALS}",
    ("aksitov", "mcnemar", "holm", "zou", *OF_INTERVALS),
)
AGREEMENT = Methods(
    "A metric says yes if its score is above its threshold; imported scores for which no threshold "
    "was given have ranks and no labels. Its labels are compared with the "
    "majority votes of the raters, or with adjudicated decisions where the reader chose them: "
    "accuracy, balanced accuracy, precision, recall, F1 and Cohen’s kappa (Cohen, 1960). Its "
    "scores are compared with the same labels (area under the ROC curve), and with the shares of "
    "yes votes of all items, also of those without a majority (mean squared error, correlations of "
    "Spearman, Kendall and Pearson, and, over pairs of responses to the same example, pairwise "
    "accuracy with tie calibration: Deutsch et al., 2023). The expected calibration error is over "
    "ten bins (Naeini et al., 2015). Items that wait for votes or are tied, and items "
    "without a score, are left out and counted. "
    "Ceilings are the agreement of people with people, by the same number of votes of each item "
    "and with ties as a half: merged against separate votes, one half of the votes against the "
    "other, and one vote against the rest. The metric is compared with a ceiling over the same "
    f"items. {INTERVALS} {JACKKNIFED} The correlations have at most as many independent items as "
    "Bonett and Wright (2000) give. The interval of the calibration error takes the signs of gaps "
    "from one half of the dialogs for the other.",
    ("cohen", "kendall", "deutsch", "naeini", "bonett", *OF_INTERVALS, *OF_JACKKNIFED),
)
SENSIBLENESS = Methods(
    "This is table 1 of Aksitov et al. (2023). For each slice (a setup), the metric’s scores are "
    "compared with the rater scores, the shares of yes votes: the mean squared error, and the "
    "shares of the slice with a human yes but no metric yes (1→0) and the reverse (0→1), which add "
    "up to the error rate. A rater score of 0.5 or more is a human yes. The mean over slices "
    f"leaves out those that the metric’s prompt was built on. {INTERVALS} {MIXES}",
    ("aksitov", "adiwardana", "zou", *OF_INTERVALS),
)
TIME = Methods(
    "The time of a judgement is the visible, focused time that a rater spent on one response in "
    "one arm; the time of a merged unit is shared among its responses. The share that merging "
    "saves is 1 − the ratio of the medians of the two arms. Means and medians have expanded "
    "percentile bootstrap intervals over {resamples} resamples of whole dialogs, seed {seed} "
    "(Efron and Tibshirani, 1993; Hesterberg, 2015).",
    ("efron", "hesterberg"),
)
POSITION = Methods(
    "In the merged arm, the effect of the first place is the mean vote on responses that were "
    "shown first, minus the mean vote on all that were shown later. If the order is fixed by "
    "setup, it also contains the difference between setups. For yes/no answers, it is a "
    f"share minus a share. {INTERVALS} {MIXES}",
    ("zou", *OF_INTERVALS),
)
THRESHOLD_CHOICE = Methods(
    "A candidate is one way to compute a metric, such as a flavor and window of Auto-AIS (Aksitov "
    "et al., 2023, section 5.1). Candidate and threshold are chosen by nested cross-validation: "
    "10 folds of whole dialogs, and 5 inside each. So every item is labelled by a choice that was "
    "made without its dialog. Beside it is the accuracy of choosing and reporting on the same "
    f"items, which flatters. The intervals keep the choices as they were made. {INTERVALS}",
    ("aksitov", *OF_INTERVALS),
)
PREDICTION_POWERED = Methods(
    "Raters judged whole dialogs that a seed drew at random, and a metric scored all responses. "
    "The estimate of a mean is the mean answer of the raters, corrected by λ times the difference "
    "of the mean scores of the other and of the drawn dialogs; λ is tuned to the data and limited "
    "to [0, 1] (Angelopoulos, Duchi and Zrnic, 2023). Variances are between dialogs. A share has a "
    "Wilson interval (Wilson, 1927; Franco et al., 2019) with as many items as labels alone would "
    "need for the same precision, another mean one by Student’s t. There is no estimate below 30 "
    "labels or 5 of the rarer answer, and none where the rated dialogs were not drawn by Attest. "
    "Where dialogs were drawn with different probabilities, by a metric’s scores, the estimate is "
    "the mean score of all responses plus the mean of answer − score, weighted by 1 / probability "
    "(Zrnic and Candès, 2024), with scores shrunk towards the mean of raters alone by the λ of the "
    "smallest variance; the mean of raters alone has the same weights (Hájek, 1971). "
    f"Assumed answers count as no. {_MAJORITY} {_LEFT_OUT} All intervals are 95 %.",
    ("angelopoulos", "zrnic", "hajek", *OF_SHARES),
)
COMPARISON = Methods(
    "Two sides are compared on the same examples. A side’s value is the mean over its responses to "
    "an example. The interval of a difference of shares is made of the Wilson intervals of both "
    "(Wilson, 1927; Franco et al., 2019; Zou and Donner, 2008), that of another difference is by "
    "Student’s t over dialogs. The test exchanges both sides of whole dialogs at random (10,000 "
    "patterns of signs, seed {seed}; all patterns with up to 15 dialogs that differ). Where raters "
    "and a metric judge together, estimate, interval and test are prediction-powered "
    "(Angelopoulos, Duchi and Zrnic, 2023). p-values are corrected for all pairs by Holm (1979) "
    "and by Benjamini and Hochberg (1995). McNemar’s mid-p is given if each dialog has one pair "
    f"(Fagerland, Lydersen and Laake, 2013). {_LEFT_OUT} All intervals are 95 %.",
    (*OF_SHARES, "zou", "angelopoulos", "holm", "benjamini", "fagerland"),
)
SYSTEM_CORRELATION = Methods(
    "Each setup has the mean answer of the raters and the mean score of a metric, over responses "
    "that have both. Kendall’s τ-b (Kendall, 1945) and Spearman’s correlation compare the two "
    "orders of the setups, which are fixed. Intervals (95 %) are expanded percentile bootstrap "
    "intervals over {resamples} resamples of whole dialogs, seed {seed} (Efron and Tibshirani, "
    f"1993; Hesterberg, 2015). With few setups, τ is a description. {_LEFT_OUT}",
    ("kendall", "efron", "hesterberg"),
)
ALTERNATIVE_ANNOTATOR = Methods(
    "The alternative-annotator test (Calderon, Reichart and Dror, 2025) asks whether a metric may "
    "stand in for one of the raters. A metric says yes if its score is above its threshold. On "
    "each item with a label of the metric and votes of two raters or more, each rater and the "
    "metric are compared with the other raters of the item: who agrees with more of them is "
    "better, and a tie counts for both. For each rater with 30 such items or more, Student’s t "
    "test over dialogs, one-sided, asks whether the rater is better than the metric by less than "
    "the margin ε. The variance of a single difference is taken as ε (1 − ε) at least, which is "
    "the least that a true difference of ε has. The p-values of all raters are corrected by "
    "Benjamini and Yekutieli (2001), q = .05. The winning rate is the share of raters whose test "
    "rejects; the metric passes with one half or more. The advantage probability is the mean over "
    "these raters of the share of items on which the metric is as good or better. It has a Wilson "
    "interval with the variance of the jackknife over dialogs (Wilson, 1927; Efron, 1982), which "
    "is about other dialogs with the same raters. The test takes the other raters as the measure, "
    "so a metric that shares their errors passes. The label of an answer on an ordinal scale is on "
    f"which side of the cut it is. {_LEFT_OUT}",
    ("calderon", "yekutieli", "wilson", "jackknife"),
)
PLAN = Methods(
    "Numbers of dialogs are by formula, for large numbers and a normal distribution, with the "
    "design effect 1 + (m − 1) · ICC for m items in each dialog. A metric with correlation r to "
    "the labels multiplies the variance by 1 − r² (T − n) / T, where n of T scored items are rated "
    "(Broska, Howes and van Loon, 2025; Angelopoulos, Duchi and Zrnic, 2023). Numbers of raters "
    "are simulated: studies are drawn from the votes of a pilot, dialogs with replacement. The "
    "table of assumptions says what was typed and what a pilot gave.",
    ("broska", "angelopoulos"),
)
TRANSFER = Methods(
    "A metric’s labels are corrected by its sensitivity q1 and specificity q0 on a study of "
    "another dataset, by the same metric, model, choices and threshold (Rogan and Gladen, 1978): "
    "θ = (p + q0 − 1) / (q0 + q1 − 1). The assumption is that the metric errs on these data as "
    "often as on the study, which nobody has checked. Intervals (95 %) are those of Lee et al. "
    "(2025), with the number of independent items that share and rates are worth between dialogs, "
    "Student’s t of the fewest dialogs, and the correlation of both rates over dialogs. There is "
    f"no corrected share if q0 + q1 − 1 is below {LEAST_DISCRIMINATION:g}, if the study has fewer "
    f"than {LEAST_ITEMS} items, or {LEAST_DIALOGS} dialogs, with one of the two labels, or if no "
    f"share from 0 to 100 % fits. {SHARES}",
    ("rogan", "lee", *OF_SHARES),
)
RATER_QUALITY = Methods(
    "Each rater is compared with the other raters of the same responses. The null hypothesis is "
    "that the raters of a response are interchangeable: given all votes on it, a rater’s vote is "
    "one of them at random. Sums over responses then have exact distributions: of the share of yes "
    "(two-sided), of agreement with the majority of the others (too little), of the same with late "
    "responses weighted more (drift, where agreement also falls within the rater’s own order), and "
    "of equal forms of two raters (copies). Straight-lining is tested by runs (Wald and "
    "Wolfowitz, 1940), and time by the share of units that took less than a quarter of their "
    "reading time at 238 words a minute (Brysbaert, 2019), against one half. Each of the six kinds "
    "has a level of .05 / 6, corrected by Holm (1979) over raters and questions, so that a study "
    "in which all raters are alike marks any of them with a probability of 5 % at most. Raters "
    "who stand out most are taken out of the comparison one by one; then all are compared with "
    "those that are left. Beside the tests, a rule marks a rater whatever the others do: more than "
    "a tenth of the units took less than a quarter of their reading time (952 words a minute; "
    "people look for a single word at 600: Carver, 1992; for a tenth see Wise and Kong, 2005), and "
    "half of the responses took less than a quarter of the median reading time. The rule takes "
    "nobody out of the comparison. Raters with fewer than 20 responses are not judged. Only given "
    "votes count. "
    "For diagnosis only, the model of Dawid and Skene (1979) is estimated for each yes/no question "
    "by expectation maximisation from the shares of votes; it gives sensitivity and specificity of "
    "raters, (right + 1) / (all + 2), and the number of majorities that differ from its labels. No "
    f"other report uses them. {SHARES} All intervals are 95 %.",
    ("wald", "brysbaert", "carver", "wise", "holm", "dawid", *OF_SHARES),
)
