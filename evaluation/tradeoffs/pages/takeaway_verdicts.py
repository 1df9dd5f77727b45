"""The verdict on each takeaway of [A]: which of its effects the data of the page show."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from evaluation.reports.columns import Estimate
from evaluation.tradeoffs.reports.takeaways import EffectRow

PartVerdict = Literal["holds", "the opposite", "not shown", "cannot be tested"]
Verdict = PartVerdict | Literal["holds in part"]

# Verdict → class of its tag, and its icon. The icons differ, so that no colour stands alone.
LOOKS: dict[Verdict, tuple[str, str]] = {
    "holds": ("tag--ok", "ok"),
    "holds in part": ("tag--on", "half"),
    "the opposite": ("tag--bad", "against"),
    "not shown": ("", "even"),
    "cannot be tested": ("", "unknown"),
}


class Part(NamedTuple):
    """One figure of one effect, and whether its interval lies where the takeaway says."""

    name: str  # the effect, or the side of a local trade-off
    estimate: Estimate
    in_points: bool
    verdict: PartVerdict

    @property
    def icon(self) -> str:
        """The name of the icon beside it."""
        return LOOKS[self.verdict][1]


class Claim(NamedTuple):
    """A claim says which figures of each of its effects must rise, or fall, for it to hold."""

    words: str
    signs: dict[str, int] = {"f1": 1}  # figure → 1: it must rise, -1: it must fall

    def parts(self, rows: Sequence[EffectRow]) -> Iterator[Part]:
        """Yield each figure that the claim is about, of each effect."""
        by_side = len(self.signs) > 1
        for row in rows:
            for figure, sign in self.signs.items():
                estimate: Estimate = getattr(row, f"{figure}_difference")
                name = figure if by_side else row.effect
                yield Part(name, estimate, by_side, _verdict(estimate, sign))


LOCAL_TRADE_OFF = {"attribution": 1, "sensibleness": -1}

# By number of the takeaway. 1, 2 and 6 of [A] are about F1, 3 to 5 about a local trade-off. [A]
# gives no direction for instructions, which 3 takes as setups that can be compared.
CLAIMS = {
    1: Claim("History and golden evidence each raise F1"),
    2: Claim("A larger model and a lower temperature each raise F1"),
    3: Claim("Instructions trade sensibleness for attribution", LOCAL_TRADE_OFF),
    4: Claim("Evidence in place of dialog trades sensibleness for attribution", LOCAL_TRADE_OFF),
    5: Claim("More passages trade sensibleness for attribution", LOCAL_TRADE_OFF),
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
    def parts(self) -> list[Part]:
        """The figures that decide, in the order of the effects."""
        return list(self.claim.parts(self.rows))

    @property
    def verdict(self) -> Verdict:
        """The verdict made of the parts: one that shows the opposite decides."""
        found = {part.verdict for part in self.parts}
        if len(found) == 1:
            return found.pop()
        if "the opposite" in found:
            return "the opposite"
        if "holds" in found:
            return "holds in part"
        return "not shown" if found else "cannot be tested"

    @property
    def deciding(self) -> list[str]:
        """The names of the parts that make the verdict, where the others differ."""
        verdict = "holds" if self.verdict == "holds in part" else self.verdict
        names = [part.name for part in self.parts if part.verdict == verdict]
        return names if len(names) < len(self.parts) else []

    @property
    def tag(self) -> str:
        """The class of the tag that shows the verdict."""
        return LOOKS[self.verdict][0]

    @property
    def icon(self) -> str:
        """The name of the icon of the verdict."""
        return LOOKS[self.verdict][1]

    @property
    def is_flattered(self) -> bool:
        """Whether an axis shows what chose the first setups of an effect."""
        return any(row.is_flattered for row in self.rows)


def takeaway_verdicts(effects: Sequence[EffectRow]) -> Iterator[TakeawayVerdict]:
    """Yield a verdict for each takeaway.

    Args:
        effects: the first row of each effect of the report.
    """
    for number in CLAIMS:
        yield TakeawayVerdict(number, [row for row in effects if row.takeaway == number])


def _verdict(estimate: Estimate, sign: int) -> PartVerdict:
    """Return on which side of 0 an interval lies: on that of the sign, the other, or on both."""
    if estimate.low is None or estimate.high is None:
        return "cannot be tested"
    if estimate.low > 0 or estimate.high < 0:
        return "holds" if (estimate.low > 0) == (sign > 0) else "the opposite"
    return "not shown"
