"""Limits that many forms, files and commands share, as the database stores what they say."""

LONGEST_NAME = 100  # of a dataset, setup, rater, metric, grid, sample, study, model
LONGEST_ENTITY_NAME = 500
# What is said of a dataset, in characters, by the names of its fields.
LONGEST_FACTS = {"description": 5_000, "licence": 200, "source": 500, "language": 100}
LARGEST_INTEGER = 2**31 - 1
LARGEST_SEED = LARGEST_INTEGER
MOST_SAMPLED = 1_000_000  # responses of each model, or pairs of one
