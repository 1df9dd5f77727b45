"""The file study.json, which describes the study that imported votes belong to."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from generation.importers.errors import quotation
from generation.limits import LARGEST_SEED

EVIDENCE_CHOICES = ("shown", "golden", "retrieved")
TEXT_FORMATS = ("plain", "markdown")
MAX_RATERS = 1000
# The key of the probabilities of drawn dialogs, where these were not all the same. It is kept with
# all further keys.
PROBABILITIES = "probabilities"
LEAST_PROBABILITY = 1e-6
COLUMNS = frozenset(
    {
        "name",
        "scheme",
        "arms",
        "raters_per_unit",
        "evidence_choice",
        "text_format",
        "seed",
        "stops_when_decided",
        "full_share",
        "guidelines",
        "without_implied",
    }
)


class StudyFileError(ValueError):
    """A study.json that cannot be used.

    The message names the key, what was found and what was expected.
    """


class StudyFacts(NamedTuple):
    """The facts about an imported study; `further` has the keys that Attest only keeps."""

    name: str = ""
    scheme: str = ""  # key of a built-in scheme, if there is no scheme.json
    raters_per_unit: int | None = None  # None: N is the number of votes that an item has
    evidence_choice: str = "shown"
    text_format: str = "plain"
    seed: int = 13
    stops_when_decided: bool = False  # if so, agreement uses the full_share examples alone
    full_share: float = 0.25
    guidelines: tuple[tuple[int, str], ...] = ()  # pairs of version and text
    without_implied: bool = False  # the votes are complete: no import adds noes to them
    further: Mapping[str, Any] = {}


def read_study_facts(data: Mapping[str, Any]) -> StudyFacts:
    """Return the facts in a study.json.

    Raises:
        StudyFileError: a key has a value that it cannot have.
    """
    name, scheme = (data.get(key, "") for key in ("name", "scheme"))
    for key, value in (("name", name), ("scheme", scheme)):
        if not isinstance(value, str) or len(value) > 100:
            raise StudyFileError(f"{key}: found {quotation(value)}; expected up to 100 characters")
    raters_per_unit = data.get("raters_per_unit")
    if raters_per_unit is not None:
        raters_per_unit = _number(data, "raters_per_unit", 1, MAX_RATERS)
    _check_probabilities(data)
    share = data.get("full_share", 0.25)
    if not isinstance(share, int | float) or isinstance(share, bool) or not 0 <= share <= 1:
        raise StudyFileError(f"full_share: found {quotation(share)}; expected a number from 0 to 1")
    return StudyFacts(
        name=name.strip(),
        scheme=scheme,
        raters_per_unit=raters_per_unit,
        evidence_choice=_one_of(EVIDENCE_CHOICES, data, "evidence_choice"),
        text_format=_one_of(TEXT_FORMATS, data, "text_format"),
        seed=_number(data, "seed", 0, LARGEST_SEED) if "seed" in data else StudyFacts().seed,
        stops_when_decided=_switch(data, "stops_when_decided"),
        full_share=float(share),
        guidelines=_guidelines(data.get("guidelines", [])),
        without_implied=_switch(data, "without_implied"),
        further={key: value for key, value in data.items() if key not in COLUMNS},
    )


def _one_of(values: Sequence[str], data: Mapping[str, Any], key: str) -> str:
    """Return a value of a choice. The first is the usual one."""
    value = data.get(key, values[0])
    if value not in values:
        expected = ", ".join(values)
        raise StudyFileError(f"{key}: found {quotation(value)}; expected one of {expected}")
    return str(value)


def _switch(data: Mapping[str, Any], key: str) -> bool:
    value = data.get(key, False)
    if not isinstance(value, bool):
        raise StudyFileError(f"{key}: found {quotation(value)}; expected true or false")
    return value


def _number(data: Mapping[str, Any], key: str, low: int, high: int) -> int:
    value = data[key]
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        expected = f"a whole number from {low} to {high}"
        raise StudyFileError(f"{key}: found {quotation(value)}; expected {expected}")
    return value


def _check_probabilities(data: Mapping[str, Any]) -> None:
    """Check that there is a probability for as many dialogs as were drawn, if there are any."""
    found = data.get(PROBABILITIES, {})
    if not isinstance(found, Mapping) or not all(map(_is_probability, found.values())):
        expected = (
            'expected an object such as {"dialog-1": 0.5}, with numbers from '
            f"{LEAST_PROBABILITY:f} to 1"
        )
        raise StudyFileError(f"{PROBABILITIES}: found {quotation(found)}; {expected}")
    if not found:
        return
    drawn, drawn_from = (data.get(name) for name in ("n_sampled", "n_drawn_from"))
    if drawn != len(found):
        raise StudyFileError(
            f"{PROBABILITIES}: found {len(found)} dialogs; expected the drawn dialogs alone, as "
            f"many as n_sampled says, which is {quotation(drawn)}"
        )
    if not isinstance(drawn_from, int) or drawn_from < len(found):
        raise StudyFileError(
            f"n_drawn_from: found {quotation(drawn_from)}; expected the number of dialogs that the "
            f"{len(found)} were drawn from"
        )


def _is_probability(found: object) -> bool:
    if not isinstance(found, int | float) or isinstance(found, bool):
        return False
    return LEAST_PROBABILITY <= found <= 1


def _guidelines(rows: object) -> tuple[tuple[int, str], ...]:
    expected = 'expected a list of {"version": 1, "text": "…"}, each version once'
    if not isinstance(rows, list):
        raise StudyFileError(f"guidelines: found {quotation(rows)}; {expected}")
    versions: dict[int, str] = {}
    for row in rows:
        match row:
            case {"version": int(version), "text": str(text)} if 0 < version < 2**15:
                if version in versions:
                    raise StudyFileError(f"guidelines: found version {version} twice; {expected}")
                versions[version] = text
            case _:
                raise StudyFileError(f"guidelines: found {quotation(row)}; {expected}")
    return tuple(versions.items())
