"""KaLMA's experiments over a graph, with their grids, runs, reports and pages."""
