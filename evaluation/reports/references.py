"""The references that the methods of reports name, in full."""

from collections.abc import Mapping

REFERENCES: Mapping[str, str] = {
    "aksitov": (
        "Aksitov, Chang, Reitter, Shakeri and Sung (2023). Characterizing attribution and fluency "
        "tradeoffs for retrieval-augmented large language models."
    ),
    "li": (
        "Li, Cao, Pan, Ma and Sun (2024). Towards verifiable generation: a benchmark for "
        "knowledge-aware language model attribution."
    ),
    "rashkin": (
        "Rashkin et al. (2023). Measuring attribution in natural language generation models. "
        "Computational Linguistics 49(4)."
    ),
    "adiwardana": "Adiwardana et al. (2020). Towards a human-like open-domain chatbot.",
    "liu": "Liu et al. (2023). G-Eval: NLG evaluation using GPT-4 with better human alignment.",
    "wilson": (
        "Wilson (1927). Probable inference, the law of succession, and statistical inference. "
        "Journal of the American Statistical Association 22."
    ),
    "franco": (
        "Franco, Little, Louis and Slud (2019). Comparative study of confidence intervals for "
        "proportions in complex sample surveys. Journal of Survey Statistics and Methodology 7(3)."
    ),
    "efron": "Efron and Tibshirani (1993). An introduction to the bootstrap. Chapman and Hall.",
    "hesterberg": (
        "Hesterberg (2015). What teachers should know about the bootstrap. The American "
        "Statistician 69(4)."
    ),
    "jackknife": "Efron (1982). The jackknife, the bootstrap and other resampling plans. SIAM.",
    "zou": (
        "Zou and Donner (2008). Construction of confidence limits about effect measures: a general "
        "approach. Statistics in Medicine 27(10)."
    ),
    "fleiss": (
        "Fleiss (1971). Measuring nominal scale agreement among many raters. Psychological "
        "Bulletin 76(5)."
    ),
    "krippendorff": (
        "Krippendorff (2011). Computing Krippendorff's alpha-reliability. University of "
        "Pennsylvania."
    ),
    "gwet": (
        "Gwet (2008). Computing inter-rater reliability and its variance in the presence of high "
        "agreement. British Journal of Mathematical and Statistical Psychology 61(1)."
    ),
    "byrt": (
        "Byrt, Bishop and Carlin (1993). Bias, prevalence and kappa. Journal of Clinical "
        "Epidemiology 46(5)."
    ),
    "shrout": (
        "Shrout and Fleiss (1979). Intraclass correlations: uses in assessing rater reliability. "
        "Psychological Bulletin 86(2)."
    ),
    "dawid": (
        "Dawid and Skene (1979). Maximum likelihood estimation of observer error-rates using the "
        "EM algorithm. Journal of the Royal Statistical Society C 28(1)."
    ),
    "deutsch": (
        "Deutsch, Foster and Freitag (2023). Ties matter: meta-evaluating modern metrics with "
        "pairwise accuracy and tie calibration."
    ),
    "naeini": (
        "Naeini, Cooper and Hauskrecht (2015). Obtaining well calibrated probabilities using "
        "Bayesian binning."
    ),
    "bonett": (
        "Bonett and Wright (2000). Sample size requirements for estimating Pearson, Kendall and "
        "Spearman correlations. Psychometrika 65(1)."
    ),
    "cohen": (
        "Cohen (1960). A coefficient of agreement for nominal scales. Educational and "
        "Psychological Measurement 20(1)."
    ),
    "mcnemar": (
        "McNemar (1947). Note on the sampling error of the difference between correlated "
        "proportions or percentages. Psychometrika 12(2)."
    ),
    "wald": (
        "Wald and Wolfowitz (1940). On a test whether two samples are from the same population. "
        "Annals of Mathematical Statistics 11(2)."
    ),
    "brysbaert": (
        "Brysbaert (2019). How many words do we read per minute? A review and meta-analysis of "
        "reading rate. Journal of Memory and Language 109."
    ),
    "carver": (
        "Carver (1992). Reading rate: theory, research, and practical implications. Journal of "
        "Reading 36(2)."
    ),
    "wise": (
        "Wise and Kong (2005). Response time effort: a new measure of examinee motivation in "
        "computer-based tests. Applied Measurement in Education 18(2)."
    ),
    "holm": (
        "Holm (1979). A simple sequentially rejective multiple test procedure. Scandinavian "
        "Journal of Statistics 6(2)."
    ),
    "fagerland": (
        "Fagerland, Lydersen and Laake (2013). The McNemar test for binary matched-pairs data: "
        "mid-p and asymptotic are better than exact conditional. BMC Medical Research "
        "Methodology 13."
    ),
    "benjamini": (
        "Benjamini and Hochberg (1995). Controlling the false discovery rate. Journal of the Royal "
        "Statistical Society B 57(1)."
    ),
    "yekutieli": (
        "Benjamini and Yekutieli (2001). The control of the false discovery rate in multiple "
        "testing under dependency. Annals of Statistics 29(4)."
    ),
    "calderon": (
        "Calderon, Reichart and Dror (2025). The alternative annotator test for LLM-as-a-judge: "
        "how to statistically justify replacing human annotators with LLMs. ACL 2025."
    ),
    "angelopoulos": (
        "Angelopoulos, Duchi and Zrnic (2023). PPI++: efficient prediction-powered inference."
    ),
    "broska": (
        "Broska, Howes and van Loon (2025). The mixed subjects design: treating large language "
        "models as potentially informative observations. Sociological Methods and Research 54(3)."
    ),
    "kendall": "Kendall (1945). The treatment of ties in ranking problems. Biometrika 33(3).",
    "robertson": (
        "Robertson and Zaragoza (2009). The probabilistic relevance framework: BM25 and beyond. "
        "Foundations and Trends in Information Retrieval 3(4)."
    ),
    "rogan": (
        "Rogan and Gladen (1978). Estimating prevalence from the results of a screening test. "
        "American Journal of Epidemiology 107(1)."
    ),
    "zrnic": "Zrnic and Candès (2024). Active statistical inference. ICML. arXiv 2403.03208.",
    "hajek": (
        "Hájek (1971). Comment on a paper by Basu. Foundations of Statistical Inference. Holt, "
        "Rinehart and Winston."
    ),
    "lee": (
        "Lee et al. (2025). How to correctly report LLM-as-a-judge evaluations. arXiv 2511.21140."
    ),
}
