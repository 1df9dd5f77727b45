"""Pages of knowledge graphs, below graphs/."""
