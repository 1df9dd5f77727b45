"""What is written about a construction: its entries checked, its rounds, its end."""
