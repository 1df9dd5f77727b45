"""The answers of raters: counts, tidy rows, and answers assumed without a vote. It only reads."""
