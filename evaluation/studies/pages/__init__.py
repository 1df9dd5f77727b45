"""The contents of a study's page, laid out from its figures."""
