"""Checks of pages by axe-core, loaded once into each page, with as few checks as suffice."""

from pathlib import Path
from typing import Any

import axe_playwright_python
from playwright.sync_api import Page

SCRIPT = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text("utf-8")
BUT_CONTRAST = {"rules": {"color-contrast": {"enabled": False}}}
# Our pages have no frames and no styles of other sites; axe would look for both each time.
RUN = """
const violations = async (where, rules) => {
  const options = {resultTypes: ["violations"], preload: false, iframes: false, ...rules};
  return (await axe.run(where, options)).violations.map(each =>
    `${each.id} ${each.nodes.slice(0, 3).map(node => node.html.slice(0, 160)).join(" ")}`);
};
"""
# Both scripts answer null on a page that was opened before axe was loaded with each.
ASK = f"rules => {{ if (!window.axe) return null; {RUN} return violations(document, rules); }}"
# Contrast depends only on a text's colour and size, and on what is painted under it.
ASK_CONTRAST = f"""
async seen => {{
  if (!window.axe) return null;
  {RUN}
  const isText = element => element.matches("input, select, textarea")
    || [...element.childNodes].some(node => node.nodeType === 3 && node.data.trim());
  const known = new Set(seen), found = new Map();
  for (const element of document.body.querySelectorAll("*")) {{
    if (!isText(element) || !element.checkVisibility()) continue;
    const {{color, fontSize, fontWeight}} = getComputedStyle(element);
    const painted = [color, fontSize, fontWeight];
    for (let under = element; under; under = under.parentElement) {{
      const {{backgroundColor, backgroundImage, opacity}} = getComputedStyle(under);
      if (opacity !== "1" || backgroundImage !== "none") painted.push(opacity, backgroundImage);
      if (backgroundColor === "rgba(0, 0, 0, 0)") continue;
      painted.push(backgroundColor);
      if (!/rgba|\\//.test(backgroundColor)) break;  // nothing shines through
    }}
    if (!known.has(painted.join(" "))) found.set(painted.join(" "), element);
  }}
  if (!found.size) return [[], []];
  const only = {{runOnly: ["color-contrast"]}};
  return [[...found.keys()], await violations([...found.values()], only)];
}}
"""


def keep_loaded(page: Page) -> None:
    """Load axe with each page that is opened from now on, and send it to the browser only once."""
    page.add_init_script(SCRIPT)


def violations(page: Page, rules: dict[str, Any] | None = None) -> list[str]:
    """Return axe's findings on a page, by all rules or by those given in axe's notation."""
    found: list[str] = _answer(page, ASK, rules or {})
    return found


class Contrasts:
    """The contrasts of many pages: axe checks each combination of colours once."""

    def __init__(self) -> None:
        self._seen: list[str] = []

    def violations(self, page: Page) -> list[str]:
        """Return texts that are hard to read, among those in colours that no page had before."""
        seen, found = _answer(page, ASK_CONTRAST, self._seen)
        self._seen += seen
        return list(found)


def _answer(page: Page, script: str, about: object) -> Any:
    answer = page.evaluate(script, about)
    if answer is None:
        page.evaluate(SCRIPT)
        answer = page.evaluate(script, about)
    return answer
