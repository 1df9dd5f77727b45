"""The attribution/fluency trade-off: what its axes are, what stands where, what a reader sees."""
