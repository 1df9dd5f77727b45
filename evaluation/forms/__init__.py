"""Forms, by what they ask about."""
