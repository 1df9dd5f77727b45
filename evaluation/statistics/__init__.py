"""Pure statistics: agreement, ceilings, intervals, rank measures. Each has a file of its own."""
