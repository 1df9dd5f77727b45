"""The tables and figures of KaLMA's experiments: a row for each group of seeded runs."""
