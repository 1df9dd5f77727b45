"""What the pages of experiments show. Only reads."""
