"""The tabs of datasets and studies name pages that there are, each page once."""

from collections import Counter

from config.tabs import OF_DATASET, OF_STUDY
from tests.test_access import PAGES


def test_each_tab_names_pages_that_there_are_and_each_stands_once():
    names = {page.name for page in PAGES}

    for places in (OF_DATASET, OF_STUDY):
        pages = [page for tab in places.tabs for page in tab.pages]
        views = Counter(view for page in pages for view in {page.view, *page.behind})
        assert views.keys() - names == set()
        assert [view for view, n in views.items() if n > 1] == []
        assert len(places.tabs) <= 5
