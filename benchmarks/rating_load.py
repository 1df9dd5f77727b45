"""The load on the rating pages: browsers of raters who submit form after form without a pause."""

import html
import http.client
import re
import threading
import time
from collections.abc import Mapping, Sequence
from typing import NamedTuple
from urllib.parse import urlencode, urlsplit

HOST = "localhost"
ANSWERS = {"evidence_contradicts": 0}  # the answer to all other questions is yes


class Page(NamedTuple):
    status: int
    location: str  # the path that a redirect leads to, or that a script is told to show
    text: str


class Form(NamedTuple):
    action: str
    fields: dict[str, str]  # names and values of hidden fields
    radios: list[str]  # names of radio buttons


class Browser:
    """A rater's browser, with one connection, one session and its cookies."""

    def __init__(self, port: int, session: str) -> None:
        self.port = port
        self.cookies = {"sessionid": session}
        self.at = ""
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)

    def get(self, path: str) -> Page:
        self.at = path
        return self._send("GET", path, None, {})

    def post(self, path: str, fields: Mapping[str, str], *, is_htmx: bool = False) -> Page:
        address = f"https://{HOST}:{self.port}"
        headers = {
            "Content-Type": "application/x-www-form-urlencoded",
            "Origin": address,
            "Referer": address + self.at,
        }
        if is_htmx:
            headers |= {"HX-Request": "true", "HX-Current-URL": address + self.at}
        return self._send("POST", path, urlencode(fields), headers)

    def _send(self, method: str, path: str, body: str | None, headers: Mapping[str, str]) -> Page:
        common = {
            "Host": f"{HOST}:{self.port}",
            "X-Forwarded-Proto": "https",
            "X-Forwarded-For": "127.0.0.1",
            "Accept": "text/html,application/xhtml+xml,*/*;q=0.8",
            "Cookie": "; ".join(f"{name}={value}" for name, value in self.cookies.items()),
        }
        self.connection.request(method, path, body, common | dict(headers))
        response = self.connection.getresponse()
        text = response.read().decode()
        for cookie in response.headers.get_all("Set-Cookie") or []:
            name, _, value = cookie.partition(";")[0].partition("=")
            self.cookies[name] = value
        to = response.headers.get("Location") or response.headers.get("HX-Push-Url") or ""
        split = urlsplit(to)
        return Page(response.status, split.path + (f"?{split.query}" if split.query else ""), text)


def forms_of(page: str) -> list[Form]:
    """Return a page's forms as a browser would fill them in."""
    forms = []
    for attributes, inside in re.findall(r"<form\b([^>]*)>(.*?)</form>", page, re.S):
        action = re.search(r'\baction="([^"]*)"', attributes)
        hidden = re.findall(r'<input type="hidden" name="([^"]*)" value="([^"]*)"', inside)
        radios = re.findall(r'<input\b[^>]*\btype="radio"[^>]*\bname="([^"]*)"', inside)
        forms.append(
            Form(
                html.unescape(action[1]) if action else "",
                {name: html.unescape(value) for name, value in hidden},
                list(dict.fromkeys(radios)),
            )
        )
    return forms


def filled_in(form: Form) -> dict[str, str]:
    """Return the fields of a full form."""
    answers = {name: str(ANSWERS.get(name.rpartition("-")[0], 1)) for name in form.radios}
    return form.fields | answers | {"seconds": "21.5"}


FLOWS = ("at once", "led")


class Pair(NamedTuple):
    """One rated unit, with its moments in seconds of the performance counter."""

    rater: int
    unit: int
    sent: float
    shown: float  # when the next page was there


class Load:
    """All raters at work on one server in one flow, and their results."""

    def __init__(self, port: int, slug: str, sessions: Sequence[str], flow: str) -> None:
        self.slug, self.flow = slug, flow
        self.browsers = [Browser(port, session) for session in sessions]
        self.units: list[Page] = []  # for each rater, the unit that the browser shows
        self.pairs: list[Pair] = []
        self.errors: list[str] = []
        self.seconds = self.until = 0.0

    def warm_up(self) -> None:
        """Let each rater open the list of studies, and take a unit."""
        for browser in self.browsers:
            page = browser.get("/studies/mine/")
            [start] = [form for form in forms_of(page.text) if form.action.endswith("/next/")]
            self.units.append(_led_on(browser, browser.post(start.action, start.fields)))

    def run(self, seconds: float) -> None:
        """Let all raters work until the time is over or nothing is left."""
        threads = [
            threading.Thread(target=self._rate, args=(place,))
            for place in range(len(self.browsers))
        ]
        began = time.perf_counter()
        self.until = began + seconds
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.seconds = max((pair.shown for pair in self.pairs), default=began) - began

    def _rate(self, place: int) -> None:
        browser = self.browsers[place]
        while time.perf_counter() < self.until and "/units/" in self.units[place].location:
            try:
                self._pair(place, browser)
            except Exception as error:  # a person would try again as well
                self.errors.append(f"rater {place + 1}: {error!r}")
                browser.connection.close()

    def _pair(self, place: int, browser: Browser) -> None:
        page = self.units[place]
        path = page.location.partition("?")[0]
        [form] = [form for form in forms_of(page.text) if form.action == path]
        fields = filled_in(form)
        sent = time.perf_counter()  # no rater waits before: the load itself reads the page
        taken = browser.post(form.action, fields, is_htmx=self.flow == "at once")
        if taken.status not in (200, 302) or "sign-in" in taken.location:
            raise ValueError(f"submit answered {taken.status} {taken.location}")
        self.units[place] = _led_on(browser, taken)
        shown = time.perf_counter()
        unit = int(path.rstrip("/").rpartition("/")[2])
        self.pairs.append(Pair(place + 1, unit, sent, shown))


def _led_on(browser: Browser, answer: Page) -> Page:
    """Return the page that an answer leads to, or that it is."""
    if answer.status == 302:
        return browser.get(answer.location)._replace(location=answer.location)
    browser.at = answer.location
    return answer
