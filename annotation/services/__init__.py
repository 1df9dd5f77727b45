"""Every write to studies and votes: imported ones, those planned here, and rating itself."""
