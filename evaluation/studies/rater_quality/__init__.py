"""The quality of raters: what each did, who stands out from the others, and why."""
