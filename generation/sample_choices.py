"""The choices that fix a sample: part of a dataset, filters, size and seeds."""

from collections.abc import Collection, Mapping
from hashlib import sha256
from typing import Annotated, Any, NamedTuple

from generation.choices.declaration import Choice, made
from generation.filters import ALL_ON, FILTER_KEYS, Filters, filters_of
from generation.limits import LARGEST_SEED, LONGEST_NAME
from generation.seeded_random import share_is_drawn

ALL, TRAIN, DEV = "all", "train", "dev"
PARTS = {
    ALL: "all dialogs",
    DEV: "dev: a tenth of the dialogs",
    TRAIN: "train: the others",
}
DEV_SHARE = 0.1
USUAL_SIZE = 100


class SampleChoices(NamedTuple):
    """Everything that fixes a sample. The seed of the draw does not change train and dev."""

    name: Annotated[
        str,
        Choice(
            "Name",
            help="Grids use this name. Without a name, the sample is named after its choices.",
            longest=LONGEST_NAME,
        ),
    ] = ""  # empty: `usual_name` is used
    filters: Filters = ALL_ON
    part: Annotated[
        str,
        Choice(
            "Drawn from",
            PARTS,
            help="The names of the dialogs and the seed of the split decide which dialogs belong "
            "to dev. Examples of one dialog are never in both parts.",
        ),
    ] = ALL
    size: Annotated[
        int | None,
        Choice(
            "Examples",
            help="How many examples are drawn. 0: all that pass the filters.",
            low=0,
            high=10**6,
        ),
    ] = USUAL_SIZE  # None: all that pass
    seed: Annotated[
        int,
        Choice(
            "Seed",
            help="It fixes the draw. A larger sample with the same seed contains the smaller one.",
            low=0,
            high=LARGEST_SEED,
        ),
    ] = 0
    split_seed: Annotated[
        int,
        Choice(
            "Seed of the split",
            help="It decides which dialogs belong to dev.",
            low=0,
            high=LARGEST_SEED,
        ),
    ] = 0

    @property
    def parameters(self) -> dict[str, Any]:
        """These choices as they are stored in JSON."""
        return {
            "filters": self.filters.parameters,
            "part": self.part,
            "size": self.size,
            "seed": self.seed,
            "split_seed": self.split_seed,
        }

    @property
    def usual_name(self) -> str:
        """A name made of the choices that are not the usual ones; other choices give another."""
        filters, usual = self.filters, ALL_ON
        part = f"{self.part}@{self.split_seed}" if self.split_seed else self.part
        said = [
            "all that pass" if self.size is None else f"{self.size} by seed {self.seed}",
            "" if self.part == ALL else part,
            _filters_in_words(filters.on),
            "" if filters.exact_match == usual.exact_match else "exact matches dropped",
            ""
            if filters.max_evidence_tokens == usual.max_evidence_tokens
            else f"under {filters.max_evidence_tokens} tokens",
            "" if filters.tokenizer == usual.tokenizer else filters.tokenizer,
        ]
        name = ", ".join(filter(None, said))
        if len(name) <= LONGEST_NAME:
            return name
        digest = sha256(name.encode()).hexdigest()[:8]
        return f"{name[: LONGEST_NAME - 11]}… #{digest}"

    def covers(self, dialog: str) -> bool:
        """Return whether a conversation belongs to the part that is drawn from."""
        if self.part == ALL:
            return True
        return share_is_drawn(self.split_seed, dialog, "dev", DEV_SHARE) == (self.part == DEV)


def chosen_sample(filters: Collection[str], values: Mapping[str, Any]) -> SampleChoices:
    """Return the choices with these values (by name) and these filters on. Size 0 means all."""
    choices = made(SampleChoices, values)
    on = tuple(key for key in FILTER_KEYS if key in filters)
    return choices._replace(filters=choices.filters._replace(on=on), size=choices.size or None)


def _filters_in_words(on: Collection[str]) -> str:
    """Return the filters that are off, or those on if they are fewer. Empty: all are on."""
    off = [key for key in FILTER_KEYS if key not in on]
    if len(off) == len(FILTER_KEYS):
        return "unfiltered"
    if 2 * len(off) > len(FILTER_KEYS):
        return "only " + " ".join(key for key in FILTER_KEYS if key in on)
    return "without " + " ".join(off) if off else ""


def choices_of(name: str, parameters: Mapping[str, Any]) -> SampleChoices:
    """Return the choices whose stored form (`SampleChoices.parameters`) is given."""
    return SampleChoices(
        name=name,
        filters=filters_of(parameters["filters"]),
        part=parameters["part"],
        size=parameters["size"],
        seed=parameters["seed"],
        split_seed=parameters["split_seed"],
    )
