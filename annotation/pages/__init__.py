"""What pages show. Only reads."""
