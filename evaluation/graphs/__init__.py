"""Knowledge graphs: browse, ask, citations, KaLMA's experiments, construction."""
