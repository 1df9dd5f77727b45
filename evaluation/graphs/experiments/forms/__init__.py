"""What is asked in an experiment, who scores it, and the study of its alignment."""
