"""Pure code about text: sentences, citations, prompts."""
