"""Function words: they connect the words of a sentence and carry no content themselves."""

_WORDS = """
    a an the and or but if as at by for from in into of on onto than to with
    am is are was were be been being do does did has have had will would can could
    i you he she it we they me him her us them my your his its our their
    this that these those there s
"""
FUNCTION_WORDS = frozenset(_WORDS.split())
