"""axe-core over what a page shows: loaded into it once, and asked for the least that proves it."""

from pathlib import Path
from typing import Any

import axe_playwright_python
from playwright.sync_api import Page

SCRIPT = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text("utf-8")
CONTRAST = {"runOnly": ["color-contrast"]}
BUT_CONTRAST = {"rules": {"color-contrast": {"enabled": False}}}
ASK = """
rules => axe.run({resultTypes: ["violations"], ...rules}).then(found => found.violations.map(
  each => `${each.id} ${each.nodes.slice(0, 3).map(node => node.html.slice(0, 160)).join(" ")}`))
"""
# Contrast depends on a text's colour and size and on what is painted under it, on nothing else.
PAINTED = """
() => {
  const isText = element => element.matches("input, select, textarea")
    || [...element.childNodes].some(node => node.nodeType === 3 && node.data.trim());
  const found = new Set();
  for (const element of document.body.querySelectorAll("*")) {
    if (!isText(element) || !element.checkVisibility()) continue;
    const {color, fontSize, fontWeight} = getComputedStyle(element);
    const painted = [color, fontSize, fontWeight];
    for (let under = element; under; under = under.parentElement) {
      const {backgroundColor, backgroundImage, opacity} = getComputedStyle(under);
      if (opacity !== "1" || backgroundImage !== "none") painted.push(opacity, backgroundImage);
      if (backgroundColor === "rgba(0, 0, 0, 0)") continue;
      painted.push(backgroundColor);
      if (!/rgba|\\//.test(backgroundColor)) break;  // nothing shines through
    }
    found.add(painted.join(" "));
  }
  return [...found];
}
"""


def violations(page: Page, rules: dict[str, Any] | None = None) -> list[str]:
    """Return what axe finds against a page: by all rules, or by some in axe's notation."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(SCRIPT)
    found: list[str] = page.evaluate(ASK, rules or {})
    return found


class Contrasts:
    """The contrasts of many pages: axe looks at each combination of colours once."""

    def __init__(self) -> None:
        self._seen: set[str] = set()

    def violations(self, page: Page) -> list[str]:
        """Return texts that are hard to read, where a page has colours that no other had."""
        painted = set(page.evaluate(PAINTED))
        if painted <= self._seen:
            return []
        self._seen |= painted
        return violations(page, CONTRAST)
