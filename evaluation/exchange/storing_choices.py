"""The choices about storing a checked file, for the page, the API and the command."""

from typing import Annotated, NamedTuple

from generation.choices.declaration import Choice
from generation.limits import LONGEST_FACTS


class StoringChoices(NamedTuple):
    """The choices of what is stored of a file."""

    skip_bad: Annotated[
        bool,
        Choice("Skip bad rows", help="Import the good rows, and leave the bad ones out."),
    ] = False
    accept: Annotated[
        bool,
        Choice(
            "Accept losses",
            help="Import the file although it has something that is lost, as the check says.",
        ),
    ] = False
    without_implied: Annotated[
        bool,
        Choice(
            "Leave out implied noes",
            help="Store only the votes that the file has. Otherwise a rater's no to a gate implies "
            "a no to each question behind it that the file leaves empty.",
        ),
    ] = False
    language: Annotated[
        str,
        Choice(
            "Language",
            help="The language of the texts, such as German. It tells where sentences end. A "
            "dataset that says its language already keeps it.",
            longest=LONGEST_FACTS["language"],
            usual="not said",
        ),
    ] = ""
