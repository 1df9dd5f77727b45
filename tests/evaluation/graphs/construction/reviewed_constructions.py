"""Constructions for tests of their pages, and the forms that these tests send."""

from django.urls import reverse

from accounts.models import User
from generation.models import Construction, ConstructionEntry
from generation.services.constructions import review_state
from tests.construction_material import add_built, add_failed, add_left_out, make_construction


def make_bards(user: User) -> Construction:
    """Make a construction of six entries, in this order: two left out, one failed, three built."""
    construction = make_construction(user=user)
    add_left_out(construction, "incomplete_name", "found “Anne”; expected two words or more")
    add_left_out(construction, "not_connected")
    add_failed(construction)
    for _ in range(3):
        add_built(construction)
    return construction


def address(name: str, *arguments: int) -> str:
    return reverse(f"constructions:{name}", args=arguments)


def entry_of(construction: Construction, number: int) -> ConstructionEntry:
    return construction.entries.get(number=number)


def decide(client, construction, number, verdict, **more):
    """Send a review of the entry as it is now."""
    sent = {"verdict": verdict, "seen": review_state(entry_of(construction, number))}
    return client.post(address("review", construction.pk, number), sent | more)
