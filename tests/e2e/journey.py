"""People who go on from Home by links, buttons and fields alone, and what that takes them."""

import re
from pathlib import Path
from typing import Literal

from django.urls import reverse
from playwright.sync_api import Locator, Page, expect

Role = Literal["button", "link"]
ENDS_WITHIN = 60_000  # ms; what a worker has to do before the next step


class Mouse:
    """A user with a mouse, who begins at Home, and whose clicks and filled fields are counted."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self.n_clicks = 0
        self.n_fields = 0
        self.go_home()

    def needs_at_most(self, clicks: int, fields: int = 0) -> None:
        """Assert how many clicks and filled fields it took to get here, at most."""
        said = f"{self.n_clicks} clicks and {self.n_fields} fields"
        assert self.n_clicks <= clicks, said
        assert self.n_fields <= fields, said

    def go_home(self) -> None:
        """Open the site anew, as a person does who comes back to it."""
        self._page.goto(reverse("home"))

    def press(self, role: Role, name: str | re.Pattern[str]) -> None:
        """Press a link or a button, as soon as it is there."""
        found = self._page.get_by_role(role, name=name, exact=True).first
        found.click(timeout=ENDS_WITHIN)
        self.n_clicks += 1

    def tick(self, label: str) -> None:
        self._page.get_by_role("checkbox", name=label).first.check()
        self.n_clicks += 1

    def answer(self, question: Locator, name: str) -> None:
        """Choose one of the answers to a question."""
        question.get_by_role("radio", name=name, exact=True).check()
        self.n_clicks += 1

    def fill(self, label: str, text: str) -> None:
        self._page.get_by_label(label, exact=True).first.fill(text)
        self.n_fields += 1

    def choose_file(self, path: Path) -> None:
        self._page.get_by_label("Choose a file").set_input_files(path)
        self.n_clicks += 2  # the browser's own dialog: open it, choose


class Keyboard(Mouse):
    """A user without a mouse, who presses the focused element by Enter, and ticks it by Space."""

    def press(self, role: Role, name: str | re.Pattern[str]) -> None:
        self._page.get_by_role(role, name=name, exact=True).first.focus(timeout=ENDS_WITHIN)
        self._page.keyboard.press("Enter")

    def tick(self, label: str) -> None:
        self._page.get_by_role("checkbox", name=label).first.focus()
        self._page.keyboard.press("Space")

    def choose_file(self, path: Path) -> None:
        field = self._page.get_by_label("Choose a file")
        field.focus()
        expect(field).to_be_focused()
        field.set_input_files(path)  # the dialog is the browser's own
