"""Limits that many forms, files and commands share, as the database stores what they say."""

LONGEST_NAME = 100  # of a dataset, setup, rater, metric, grid, sample, study, model
LONGEST_ENTITY_NAME = 500
LARGEST_INTEGER = 2**31 - 1
LARGEST_SEED = LARGEST_INTEGER
MOST_SAMPLED = 1_000_000  # responses of each model, or pairs of one
