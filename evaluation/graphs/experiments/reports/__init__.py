"""The reports behind tables and figures of KaLMA's experiments: a row for each group of runs."""
