"""The pages of KaLMA's experiments, below graphs/."""
