"""Forms of experiments: asking, scoring, and the study of human alignment."""
