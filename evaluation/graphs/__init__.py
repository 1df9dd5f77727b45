"""Knowledge graphs: browsing, questions, citations, KaLMA's experiments and construction."""
