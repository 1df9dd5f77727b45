"""The first page of researchers and admins, which reads all parts of the project."""
