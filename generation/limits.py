"""Limits that many forms, files and commands share, because the database stores their values."""

# Characters of the name of a dataset, setup, rater, metric, grid, sample, study or model.
LONGEST_NAME = 100
LONGEST_ENTITY_NAME = 500
# The facts about a dataset: names of its fields, and the number of characters at most.
# The main metric of a side is a run, named by its metric and signature: 'auto_ais: auto_ais|…'.
MAIN_METRICS = ("main_attribution_metric", "main_sensibleness_metric")
LONGEST_FACTS = {
    "description": 5_000,
    "licence": 200,
    "source": 500,
    "language": 100,
    **dict.fromkeys(MAIN_METRICS, 800),
}
LARGEST_INTEGER = 2**31 - 1
LARGEST_SEED = LARGEST_INTEGER
MOST_SAMPLED = 1_000_000  # responses, or pairs of sentence and citation, for each model
