"""The verdict on each takeaway of [A]: whether the data of the page show what it claims."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from evaluation.reports.columns import Estimate
from evaluation.tradeoffs.reports.takeaways import EffectRow

Verdict = Literal["holds", "not shown", "cannot be tested"]


class Claim(NamedTuple):
    """A claim says which figures of a row must rise or fall for a takeaway to hold."""

    words: str
    rises: tuple[str, ...] = ("f1_difference",)
    falls: tuple[str, ...] = ()

    def verdict(self, row: EffectRow) -> Verdict:
        """Return whether the intervals of one effect lie where this says.

        It is 'not shown' if one of them contains 0 or lies on the other side.
        """
        signs = dict.fromkeys(self.rises, 1) | dict.fromkeys(self.falls, -1)
        shown = [_lies_at(getattr(row, name), sign) for name, sign in signs.items()]
        if None in shown:
            return "cannot be tested"
        return "holds" if all(shown) else "not shown"


LOCAL_TRADE_OFF = (("attribution_difference",), ("sensibleness_difference",))

# By number of the takeaway. 1, 2 and 6 of [A] are about F1, 3 to 5 about a local trade-off. [A]
# gives no direction for instructions, which 3 takes as setups that can be compared.
CLAIMS = {
    1: Claim("History and golden evidence each raise F1"),
    2: Claim("A larger model and a lower temperature each raise F1"),
    3: Claim("Instructions trade sensibleness for attribution", *LOCAL_TRADE_OFF),
    4: Claim("Evidence in place of dialog trades sensibleness for attribution", *LOCAL_TRADE_OFF),
    5: Claim("More passages trade sensibleness for attribution", *LOCAL_TRADE_OFF),
    6: Claim("Re-ranking raises F1, and that of a small model above a large one’s"),
}


@dataclass(frozen=True)
class TakeawayVerdict:
    """A takeaway with its effects, each over all pairs."""

    number: int
    rows: list[EffectRow]

    @property
    def claim(self) -> Claim:
        """Return what the takeaway claims."""
        return CLAIMS[self.number]

    @property
    def verdict(self) -> Verdict:
        """The verdict: one effect that is not shown decides, then one that cannot be tested."""
        found = [self.claim.verdict(row) for row in self.rows]
        return next((each for each in _WEAKEST_FIRST if each in found), "holds")

    @property
    def tag(self) -> str:
        """The class of the tag that shows the verdict."""
        return "tag--ok" if self.verdict == "holds" else ""

    @property
    def is_flattered(self) -> bool:
        """Whether an axis shows what chose the first setups of an effect."""
        return any(row.is_flattered for row in self.rows)

    @property
    def by_f1(self) -> bool:
        """Whether it is about F1, not about the two sides of it."""
        return not self.claim.falls


_WEAKEST_FIRST: Sequence[Verdict] = ("not shown", "cannot be tested")


def takeaway_verdicts(effects: Sequence[EffectRow]) -> Iterator[TakeawayVerdict]:
    """Yield a verdict for each takeaway.

    Args:
        effects: the first row of each effect of the report.
    """
    for number in CLAIMS:
        yield TakeawayVerdict(number, [row for row in effects if row.takeaway == number])


def _lies_at(estimate: Estimate, sign: int) -> bool | None:
    """Return whether an interval lies on a side of 0; None if there is no interval."""
    if estimate.low is None or estimate.high is None:
        return None
    return estimate.low > 0 if sign > 0 else estimate.high < 0
