"""Statistics, pure: agreement, ceilings, intervals, rank measures. One is one file."""
