"""The methods of the reports on a study, as paragraphs for a paper."""

from evaluation.reports.methods import INTERVALS, OF_INTERVALS, Methods

_MAJORITY = (
    "The label of an item is what more than half of its raters answered; other items are "
    "undecided and counted."
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
    "(Krippendorff, 2011). Unless the reader chose otherwise, agreement uses given votes only, "
    f"while means also use the noes that a closed gate implies. {_LEFT_OUT} {INTERVALS}",
    ("fleiss", "krippendorff", *OF_INTERVALS),
)
SCENARIOS = Methods(
    "A scenario is a setup in an arm, as scenarios A to D of Aksitov et al. (2023, section 4.3). "
    "Each has the mean of its majority votes per question, or of its medians if the scale is "
    f"ordinal. {_MAJORITY} Answers that are assumed count as no. {_LEFT_OUT} {INTERVALS}",
    ("aksitov", *OF_INTERVALS),
)
UNCERTAINTY = Methods(
    "The same responses were rated separately and merged. Accuracy is the share of responses "
    "whose merged label equals the separate label, which is taken as the truth (Aksitov et al., "
    "2023, section 4.3); disagreement is 1 − accuracy. The shift of a setup is the difference of "
    "its two shares of yes over the same responses. McNemar’s exact test tests it, with Holm’s "
    "correction over the questions of the setup (McNemar, 1947; Holm, 1979). Whether merging "
    "favours a setup is tested by exchanging the two arms within whole dialogs at random, on the "
    "shift of its rater scores minus the mean shift of the other setups; Holm corrects over the "
    f"questions, and more than two setups are corrected by Bonferroni. {INTERVALS}",
    ("aksitov", "mcnemar", "holm", *OF_INTERVALS),
)
AGREEMENT = Methods(
    "A metric says yes if its score is above its threshold. Its labels are compared with the "
    "majority votes of the raters, or with adjudicated decisions where the reader chose them: "
    "accuracy, balanced accuracy, precision, recall, F1 and Cohen’s kappa (Cohen, 1960). Its "
    "scores are compared with the shares of yes votes: area under the ROC curve, mean squared "
    "error and Spearman’s rank correlation. Undecided items and items without a score are left "
    "out and counted. Ceilings are the accuracy of people against people on the same items: merged "
    "against separate labels, one half of the raters against the other, and each rater against "
    f"the rest. {INTERVALS}",
    ("cohen", *OF_INTERVALS),
)
SENSIBLENESS = Methods(
    "This is table 1 of Aksitov et al. (2023). For each slice (a setup), the metric’s scores are "
    "compared with the rater scores, the shares of yes votes: the mean squared error, and the "
    "shares of the slice with a human yes but no metric yes (1→0) and the reverse (0→1), which add "
    "up to the error rate. A rater score of 0.5 or more is a human yes. The mean over slices "
    f"leaves out those that the metric’s prompt was built on. {INTERVALS}",
    ("aksitov", "adiwardana", *OF_INTERVALS),
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
    "setup, it also contains the difference between setups. It has an expanded percentile "
    "bootstrap interval over {resamples} resamples of whole dialogs, seed {seed} (Efron and "
    "Tibshirani, 1993; Hesterberg, 2015).",
    ("efron", "hesterberg"),
)
THRESHOLD_CHOICE = Methods(
    "A candidate is one way to compute a metric, such as a flavor and window of Auto-AIS (Aksitov "
    "et al., 2023, section 5.1). Candidate and threshold are chosen by nested cross-validation: "
    "10 folds of whole dialogs, and 5 inside each. So every item is labelled by a choice that was "
    "made without its dialog. Beside it is the accuracy of choosing and reporting on the same "
    f"items, which flatters. The intervals keep the choices as they were made. {INTERVALS}",
    ("aksitov", *OF_INTERVALS),
)
