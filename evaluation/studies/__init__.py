"""A study's reports, figures and pages; disagreements; threshold choice."""
