"""All writes to studies and votes: imports, planned studies, and rating."""
