"""The pages of an example and of a response, which read all parts of the project."""
