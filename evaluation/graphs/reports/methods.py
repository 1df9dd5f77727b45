"""The methods of the reports on answers about a graph and on retrieval, for a paper."""

from evaluation.reports.methods import (
    F1_OF_SHARES,
    JACKKNIFED,
    MIXES,
    OF_JACKKNIFED,
    OF_SHARES,
    SHARES,
    Methods,
)

_MICRO = (
    "Micro numbers are over all citations or all needed knowledge, and macro numbers are means "
    "over answers; each F1 is that of its precision and recall."
)
_CITATIONS = (
    "A citation is correct if it is complete and exactly a triple of the graph that was shown. "
    "It is precise if it is also in the minimum knowledge set. Recall is the share of the minimum "
    "set that a correct citation hits (Li et al., 2024, section 4.2)."
)
_RUNS = (
    "Rows are means over seeded runs with the sample deviation (n − 1), and F1 is made from the "
    "mean precision and the mean recall. Answers of different runs to one dialog are kept together."
)
_INTERVALS = f"All intervals are 95 %. {SHARES} {F1_OF_SHARES}"
_REFERENCES = ("li", *OF_SHARES, *OF_JACKKNIFED)
_OF_RUNS = f"{_INTERVALS} {MIXES}"
_REFERENCES_OF_RUNS = (*_REFERENCES, "zou")

RETRIEVAL = Methods(
    "Recall@k is the share of an example’s golden passages that are among the first k, and "
    "precision@k the share of the first k that are golden, as means over examples. Passages are "
    "ranked by BM25 (Robertson and Zaragoza, 2009) or as an imported ranking says. For questions "
    "about a graph, precision is the share of the retrieved sub-graphs that are gold, and recall "
    "the share of the gold ones that are retrieved (Li et al., 2024, section 6.3). All intervals "
    f"are 95 %. {SHARES}",
    ("robertson", "li", *OF_SHARES),
)
CITATIONS = Methods(
    f"{_CITATIONS} {_MICRO} Answers with an empty or unknown minimum set have no recall and are "
    "counted. If the reader chose the authors’ code, parsing and formulas are those of the "
    f"published code. {_INTERVALS}",
    _REFERENCES,
)
ALIGNMENT = Methods(
    "A pair is a sentence without its citations and one citation in it. It is aligned if a model "
    "says that the sentence entails 'relation: value' with a probability above the threshold (Li "
    "et al., 2024, section 4.3). The share is over all pairs, and as a mean over answers. Failed "
    f"pairs are left out and counted. All intervals are 95 %. {SHARES}",
    ("li", *OF_SHARES),
)
INCOMPETENCE = Methods(
    "Knowledge was removed from the graph that was shown. Precision is the share of sentences with "
    "[NA] that entail a removed triple by the model of the run, and recall the share of removed "
    "triples that such a sentence entails (Li et al., 2024, section 4.4); both are micro. Without "
    "a sentence with [NA], precision is undefined, and recall and F1 are 0, which is our reading. "
    f"{_INTERVALS}",
    _REFERENCES,
)
QUALITY = Methods(
    "A language model judges coherence, consistency, fluency and relevance from 1 to 5 with the "
    "prompts of G-Eval (Liu et al., 2023; Li et al., 2024, section 4.1). Citations are taken out "
    "of the text first. Rows have the mean and the sample deviation over the answers with a score; "
    "a reply that cannot be read is a failed score and no number. Means have expanded percentile "
    "bootstrap intervals over {resamples} resamples of whole dialogs, seed {seed} (Efron and "
    "Tibshirani, 1993; Hesterberg, 2015).",
    ("liu", "li", "efron", "hesterberg"),
)
DIFFERENCES = Methods(
    "Each answer is counted as the paper of Li et al. (2024) defines citations, and as the "
    "published code of its authors counts them. The rows are the answers for which the two differ, "
    "with the reasons.",
    ("li",),
)
STATISTICS = Methods(
    "The counts are over the people whom the questions name (Li et al., 2024, section 2.3): gold "
    "entities where they are known, else retrieved ones. A value counts once for each person. The "
    "report estimates nothing, so it has no intervals.",
    ("li",),
)
CITATION_TABLE = Methods(
    f"This is table 3 of Li et al. (2024). {_CITATIONS} {_MICRO} {_RUNS} Alignment is that of the "
    f"newest finished run. {_OF_RUNS}",
    _REFERENCES_OF_RUNS,
)
QUALITY_TABLE = Methods(
    "This is table 4 of Li et al. (2024). Coherence, consistency, fluency and relevance are means "
    "from 1 to 5 over the answers of all runs of a group, as a model judges them with the prompts "
    "of G-Eval (Liu et al., 2023). Failed scores are left out and counted. Means have expanded "
    "percentile bootstrap intervals over {resamples} resamples of whole dialogs, seed {seed} "
    "(Efron and Tibshirani, 1993; Hesterberg, 2015).",
    ("li", "liu", "efron", "hesterberg"),
)
REMOVAL = Methods(
    "This is table 5 and figure 4 of Li et al. (2024). Round n removes the first n members of a "
    "seeded order of the minimum set from the gold sub-graphs that are shown, while the minimum "
    f"set stays whole. {_CITATIONS} Figures are micro, over the examples that all rounds have. "
    f"[NA] is scored by the newest finished run. {_RUNS} {_OF_RUNS}",
    _REFERENCES_OF_RUNS,
)
ACCURACY = Methods(
    "This is figure 5 of Li et al. (2024). Each step replaces a further 20 % of the gold "
    f"sub-graphs by random ones of other questions. {_CITATIONS} Figures are micro, over the "
    f"examples that all steps have. {_RUNS} {_OF_RUNS}",
    _REFERENCES_OF_RUNS,
)
HUMAN_ALIGNMENT = Methods(
    "This is table 6 of Li et al. (2024). Raters say whether a sentence supports what it cites. "
    "Human alignment is the mean of the mean votes over pairs with two votes or more. Automatic "
    "alignment is the share of pairs whose sentence entails the citation by the metric, over the "
    "same pairs and over the whole run; the gap is human minus automatic. Agreement between raters "
    f"is percent agreement and Krippendorff’s alpha (Krippendorff, 2011). All intervals are "
    f"95 %. {SHARES} {MIXES} {JACKKNIFED}",
    ("li", "krippendorff", *OF_SHARES, "zou", *OF_JACKKNIFED),
)
