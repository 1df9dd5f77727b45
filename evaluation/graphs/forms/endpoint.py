"""Which SPARQL endpoint is asked: the fields of every form that asks one."""

from django import forms

from evaluation.graphs.services.endpoint_choices import LONGEST_ADDRESS, LONGEST_LANGUAGE
from generation.retrieval.wikibase import ENTITIES, WIKIDATA

PLAIN = {"autocapitalize": "none", "autocomplete": "off", "spellcheck": "false"}


class EndpointForm(forms.Form):
    """An endpoint, and how its graph is read."""

    endpoint = forms.CharField(
        label="Endpoint",
        max_length=LONGEST_ADDRESS,
        initial=WIKIDATA,
        help_text="SPARQL, http or https. Its graph has Wikidata’s shape.",
        widget=forms.URLInput(attrs=PLAIN),
    )
    entities = forms.CharField(
        label="Entities begin with",
        max_length=200,
        initial=ENTITIES,
        help_text="The address of an entity, without its qid.",
        widget=forms.TextInput(attrs=PLAIN),
    )
    language = forms.CharField(
        label="Language",
        max_length=LONGEST_LANGUAGE,
        initial="en",
        help_text="Of names and relations.",
        widget=forms.TextInput(attrs=PLAIN),
    )
    allow_private = forms.BooleanField(
        label="The endpoint may be in our own network",
        required=False,
        help_text="Local and private addresses are refused otherwise. Allowed is this one alone, "
        "and not where it may send on to.",
    )
