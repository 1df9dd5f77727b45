"""Reports: what pages, commands and the API show, each from one function of one module."""
