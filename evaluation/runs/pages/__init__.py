"""What pages of metric runs show."""
