"""Walks over every page of raters and of researchers, in every state that looks different."""

import re
from collections.abc import Callable, Iterable, Iterator
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any

from django.contrib.auth.models import Group
from django.urls import reverse
from django.utils import timezone
from playwright.sync_api import Page, expect

from accounts.access import Role
from accounts.models import User
from accounts.services import create_api_token
from annotation.models import Assignment, Rater, Study
from annotation.services.rating import flag_responses, save_draft, skip_unit
from annotation.services.studies import archive_study, close_study, pause_study
from annotation.services.study_raters import set_excluded
from generation.models import Response
from tests.annotation.makers import (
    claimed,
    material,
    opened,
    planned,
    rate,
    raters_of,
    researcher,
)
from tests.e2e.graph_walk import graph_pages, pull_pages
from tests.e2e.grid_walk import grid_pages
from tests.e2e.help_walk import help_pages, open_help
from tests.e2e.home_walk import home_pages
from tests.e2e.import_walk import import_pages
from tests.e2e.job_walk import job_pages
from tests.e2e.living_walk import living_stops
from tests.e2e.quality_walk import quality_stops
from tests.e2e.run_walk import disagreement_stops, report_stops, run_stops
from tests.e2e.sample_walk import sample_pages
from tests.e2e.stops import ARABIC, LONG, SCRIPT, Stop, administrator
from tests.e2e.tradeoff_walk import tradeoff_pages
from tests.e2e.worker_walk import worker_stops
from tests.evaluation.studies.pages.address import NAMES
from tests.graph_material import ANSWER, SHOWN, cited_row, hathaways
from tests.makers import example_row, response_row

MARKDOWN = f"""# The mill

It **closed** in 1971, see [the archive](https://example.org/a) and `code`.

- {ARABIC}
- It stood.

| Year | Looms | A very long name of a column that has no room |
|---|--:|---|
| 1871 | 12 | {"incomprehensibilities" * 6} |

> quoted

![Map](https://example.org/map.png)
"""


def first_answer_no(page: Page) -> None:
    page.keyboard.press("n")


def contradict(page: Page) -> None:
    for key in "yyyyyyy":
        page.keyboard.press(key)


def submit_empty(page: Page) -> None:
    page.keyboard.press("Control+Enter")
    expect(page.locator("[data-missing]")).to_be_visible()


def let_go_without_the_cookie(page: Page) -> None:
    page.context.clear_cookies(name="csrftoken")
    page.get_by_role("button", name="Release", exact=False).last.click()
    expect(page.get_by_role("heading", name="You are signed in")).to_be_visible()


def press(key: str) -> Callable[[Page], None]:
    return lambda page: page.keyboard.press(key)


def rows_of(n_setups: int) -> dict[str, Any]:
    texts = ["The mill closed in 1971.", ARABIC, SCRIPT, "It did not close.", "Rome.", LONG[:400]]
    turns = [
        {"speaker": "user", "text": "Tell me about the mill."},
        {"speaker": "assistant", "text": ARABIC},
        {"speaker": "user", "text": "When did it close?"},
    ]
    evidence = [{"id": "p1", "text": LONG, "title": "The mill"}, {"id": "p2", "text": ARABIC}]
    return {
        "examples": [example_row("e1", turns=turns, evidence=evidence)],
        "responses": [
            response_row(
                f"r{n}", "e1", setup=f"setup-{n}", text=texts[n], evidence_shown=["p1", "p2"]
            )
            for n in range(n_setups)
        ],
    }


def unit_path(assignment: Assignment) -> str:
    return reverse("annotation:rate-unit", args=[assignment.study.slug, assignment.unit_id])


def account(rater: Rater) -> User:
    assert rater.user is not None
    return rater.user


def in_hand(study: Study, number: int = 0) -> tuple[User, str]:
    """Return a rater and the address of the unit that they get."""
    rater = raters_of(study)[number]
    assert rater.user is not None
    return account(rater), unit_path(claimed(rater))


def rating_stops(folder: Path) -> Iterator[Stop]:
    """Yield every page of rating and set-up."""
    two = material(folder / "two", **rows_of(2))
    six = material(folder / "six", **rows_of(6))
    text = "He painted [Q1, occupation: painter]. He died [Q1, died: 1863, place: Rome]."
    cited = material(
        folder / "cited", n_examples=1, responses=[response_row("c1", "e1", text=text)]
    )

    ais = opened(two, name="Attribution")
    user, path = in_hand(ais)
    yield Stop("separate", user, path)
    yield Stop("separate, not valid", user, path, submit_empty)
    yield Stop("separate, first answer no", user, path, first_answer_no)
    yield Stop("separate, contradiction", user, path, contradict)
    for key, name in (("s", "skip"), ("f", "flag"), ("a", "ask"), ("?", "keys"), ("e", "help")):
        yield Stop(f"separate, {name}", user, path, press(key))
    yield Stop("separate, about this page", user, path, open_help)
    rater = raters_of(ais)[1]
    held = claimed(rater)
    flag_responses(held.unit, rater, [held.unit.targets.get().pk], "Text is cut off")
    yield Stop("separate, flagged", account(rater), unit_path(held))
    rater = raters_of(ais)[2]
    done = claimed(rater)
    rate(rater, done)
    yield Stop("submitted", account(rater), unit_path(done))
    yield Stop("my answers", account(rater), reverse("annotation:my-answers", args=[ais.slug]))
    skipped = claimed(rater)
    skip_unit(skipped.unit, rater, "Another reason")
    yield Stop("skipped", account(rater), unit_path(skipped))
    yield Stop("my studies, nothing left", account(rater), reverse("annotation:my-studies"))
    late, quick = raters_of(ais)[3:5]
    lost = claimed(late)
    save_draft(lost.unit, late, {lost.unit.targets.get().pk: {"understand": 1}}, 3.0)
    yield Stop("my studies, half answered", account(late), reverse("annotation:my-studies"))
    Assignment.objects.filter(pk=lost.pk).update(lease_until=timezone.now(), rater=quick)
    yield Stop("gone to another rater", account(late), unit_path(lost))
    yield Stop("my answers, none", account(late), reverse("annotation:my-answers", args=[ais.slug]))

    for n, dataset in ((2, two), (6, six)):
        merged = opened(dataset, arms=["merged"], name=f"Merged {n}")
        user, path = in_hand(merged)
        yield Stop(f"merged {n}", user, path)
        yield Stop(f"merged {n}, not valid", user, path, submit_empty)
        yield Stop(f"merged {n}, first answer no", user, path, first_answer_no)
    in_turn = opened(two, arms=["merged"], merged_layout="in_turn", name="In turn")
    yield Stop("in turn", *in_hand(in_turn))
    yield from markdown_stops(folder)
    for scheme in ("SSA", "AIS_2", "QUALITY"):
        yield Stop(scheme, *in_hand(opened(two, scheme=scheme, name=scheme)))
    pairs = opened(cited, scheme="ALIGNMENT", raters_per_unit=2, name="Pairs")
    yield Stop("ALIGNMENT", *in_hand(pairs))
    yield from graph_rating_stops(folder)

    paused = opened(two, name="Paused")
    user, path = in_hand(paused)
    pause_study(paused, researcher())
    yield Stop("paused", user, path)
    closed = opened(two, scheme="SSA", name="Closed")
    rater = raters_of(closed)[0]
    done = claimed(rater)
    rate(rater, done)
    half = claimed(rater)
    close_study(closed, researcher())
    yield Stop("closed, submitted", account(rater), unit_path(done))
    yield Stop("closed, not submitted", account(rater), unit_path(half))

    plans = researcher()
    yield from living_stops(ais, plans)
    bare = planned(two, name="Planned", arms=["separate", "merged"], raters=3)
    for study in (ais, bare, paused, closed):
        for page in ("study-setup", "guidelines", "edit-guidelines", "preview", "gold"):
            path = reverse(f"annotation:{page}", args=[study.slug])
            yield Stop(f"{page} of {study.name}", plans, path)
    decided = reverse("evaluation:adjudicated-gold", args=[bare.slug])
    yield Stop("gold from decisions", plans, decided)
    preview = reverse("annotation:preview", args=[bare.slug])
    yield Stop("preview, answers known", plans, preview, know_answers)
    yield Stop("gold", plans, reverse("annotation:gold", args=[bare.slug]))
    yield Stop("edit", plans, reverse("annotation:edit-study", args=[bare.slug]))
    out = reverse("annotation:take-out-rater", args=[ais.slug, raters_of(ais)[2].pk])
    yield Stop("take out", plans, out)
    yield from excluding_stops(ais)
    yield Stop("delete a study", plans, reverse("evaluation:delete-study", args=[bare.slug]))
    yield Stop("not deleted", plans, reverse("evaluation:delete-study", args=[ais.slug]))
    gone = reverse("annotation:study-setup", args=[ais.slug])
    yield Stop("send again", plans, gone, let_go_without_the_cookie)
    for page in NAMES:
        few, none = (reverse(f"evaluation:{page}", args=[study.slug]) for study in (ais, bare))
        yield Stop(f"{page}, few votes", plans, few)
        yield Stop(f"{page}, no votes", plans, none)
    none = reverse("evaluation:rater-quality", args=[bare.slug])
    yield Stop("rater quality, no votes", plans, none)
    new = reverse("annotation:new-study")
    yield Stop("new study", plans, new)
    yield Stop("new study of a dataset", plans, f"{new}?dataset={two.slug}")
    listed = reverse("annotation:studies")
    yield Stop("studies", plans, listed)
    yield Stop("studies, none found", plans, f"{listed}?q=no+such+study&scheme=AIS")
    archive_study(bare, True, plans)
    yield Stop("studies, archived", plans, f"{listed}?archived=on&sort=-raters")
    yield Stop("datasets", plans, reverse("generation:datasets") + "?sort=responses&with=responses")
    yield Stop("datasets, none archived", plans, reverse("generation:datasets") + "?archived=on")
    yield Stop("dataset", plans, reverse("generation:dataset", args=[two.slug]))


def excluding_stops(study: Study) -> Iterator[Stop]:
    """Yield the page that excludes a rater, and what excluded raters change on the set-up page."""
    plans, rater = researcher(), raters_of(study)[2]
    exclude = reverse("annotation:exclude-rater", args=[study.slug, rater.pk])
    yield Stop("exclude", plans, exclude)
    yield Stop("exclude, no reason", plans, exclude, exclude_without_a_reason)
    set_excluded(rater, True, LONG[:100] + ARABIC + SCRIPT, plans)
    yield Stop("excluded", plans, exclude)
    yield Stop("set-up, excluded", plans, reverse("annotation:study-setup", args=[study.slug]))
    yield Stop("methods, excluded", plans, reverse("evaluation:study-methods", args=[study.slug]))


def know_answers(page: Page) -> None:
    first_answer_no(page)
    page.get_by_role("button", name="These answers are known").click()
    expect(page.get_by_text("Gold item", exact=True)).to_be_visible()


def exclude_without_a_reason(page: Page) -> None:
    page.locator("form[aria-label='Exclude or include']").evaluate("form => form.noValidate = true")
    page.get_by_role("button", name="Ignore votes").last.click()
    expect(page.locator(".hint--bad")).to_be_visible()


def markdown_stops(folder: Path) -> Iterator[Stop]:
    """Yield the pages that show rendered Markdown."""
    rows = rows_of(2)
    rows["examples"][0]["evidence"][1]["text"] = MARKDOWN
    rows["examples"][0]["turns"][1]["text"] = MARKDOWN
    for row in rows["responses"]:
        row["text"] = MARKDOWN
    dataset = material(folder / "markdown", **rows)
    for arm, layout in (
        ("separate", "side_by_side"),
        ("merged", "side_by_side"),
        ("merged", "in_turn"),
    ):
        name = f"Markdown, {arm} {layout}"
        study = opened(dataset, name=name, arms=[arm], merged_layout=layout, text_format="markdown")
        rater = raters_of(study)[0]
        held = claimed(rater)
        yield Stop(name, account(rater), unit_path(held))
        rate(rater, held)
        answers = reverse("annotation:my-answers", args=[study.slug])
        yield Stop(f"{name}, my answers", account(rater), answers)
        response = Response.objects.filter(targets__places__unit=held.unit).earliest("pk")
        path = reverse("evaluation:response", args=[dataset.slug, response.pk])
        yield Stop(f"{name}, a response", researcher(), path)


def graph_rating_stops(folder: Path) -> Iterator[Stop]:
    """Yield the pages on which answers are rated against a graph."""
    graph = [*SHOWN, ["Q4", "name", "Globe"], ["Q50", SCRIPT, ARABIC], ["Q50", ARABIC, LONG[:400]]]
    text = f"{SCRIPT} {ARABIC} {ANSWER} {ANSWER}"
    six = hathaways(
        folder,
        "six answers",
        responses=[
            cited_row(f"a{n}", setup=f"s{n}", text=text, graph_shown=graph) for n in range(6)
        ],
    )
    for scheme in ("AIS", "QUALITY"):
        for arm, layout in (
            ("separate", "side_by_side"),
            ("merged", "side_by_side"),
            ("merged", "in_turn"),
        ):
            name = f"{scheme} of a graph, {arm} {layout}"
            study = opened(six, scheme=scheme, name=name, arms=[arm], merged_layout=layout)
            yield Stop(name, *in_hand(study))
            if scheme == "AIS":
                yield Stop(f"{name}, a citation followed", *in_hand(study, 1), follow_a_citation)


def follow_a_citation(page: Page) -> None:
    page.get_by_role("link", name=re.compile("to the evidence$")).first.press("Enter")
    expect(page.locator("tr:focus")).to_be_visible()


def research_stops(folder: Path) -> Iterator[Stop]:
    """Yield every page of reports, runs, samples, grids and jobs."""
    plans = researcher()
    yield from report_stops(folder, plans)
    yield from token_stops(plans)
    yield from invitation_stops()
    yield from worker_stops()
    yield from run_stops(folder, plans)
    yield from disagreement_stops(folder, plans)
    yield from quality_stops(folder, plans)
    yield from (Stop(name, plans, path, act) for name, path, act in help_pages(folder / "help"))
    yield from (Stop(name, plans, path) for name, path in import_pages(plans))
    yield from (Stop(name, plans, path) for name, path in job_pages(folder))
    yield from (Stop(name, plans, path) for name, path in sample_pages(folder / "sampled"))
    yield from (Stop(name, plans, path) for name, path in grid_pages(folder / "grids"))


def graph_stops(folder: Path) -> Iterator[Stop]:
    """Yield every page of knowledge graphs."""
    plans = researcher()
    yield from (Stop(name, plans, path) for name, path in graph_pages(folder))
    yield from (Stop(name, administrator(), path) for name, path in pull_pages())


def tradeoff_stops(folder: Path) -> Iterator[Stop]:
    """Yield every page of trade-offs."""
    plans = researcher()
    yield from (Stop(name, plans, path) for name, path in tradeoff_pages(folder, plans))


def home_stops(folder: Path) -> Iterator[Stop]:
    """Yield home, which needs a database without anything at first."""
    user = User.objects.create_user("who-comes-home")
    user.groups.add(Group.objects.get_or_create(name=Role.RESEARCHER)[0])
    yield from (Stop(name, user, path) for name, path in home_pages(folder, user))


def token_stops(user: User) -> Iterator[Stop]:
    """Yield the page of one's API tokens, without any and with some of each kind."""
    tokens = reverse("accounts:api-tokens")
    yield Stop("tokens, none", user, tokens)
    create_api_token(user, "notebook")
    create_api_token(user, "cron", is_read_only=True, ends_on=timezone.now().date())
    create_api_token(user, "old course", ends_on=date(2026, 3, 1))
    yield Stop("tokens", user, tokens)


def invitation_stops() -> Iterator[Stop]:
    """Yield the page that invites several people: empty, refused, and with their links."""
    admin, invitations = administrator(), reverse("accounts:invitations")
    yield Stop("invitations", admin, invitations)
    yield Stop("invitations, refused", admin, invitations, partial(invite, names="=1+1"))
    yield Stop("invitations, made", admin, invitations, partial(invite, names="kim\nlee"))


def invite(page: Page, names: str) -> None:
    page.get_by_label("Names").fill(names)
    page.get_by_role("button", name="Create accounts").click()
    page.wait_for_load_state()


def visits(page: Page, sign_in, stops: Iterable[Stop]) -> Iterator[Stop]:
    """Open each page as the user that it is for, and yield at each."""
    user = None
    for stop in stops:
        if stop.user != user:
            page.goto("about:blank")  # a draft that is still being sent arrives first
            page.context.clear_cookies()
            if stop.user:
                sign_in(stop.user)
            user = stop.user
        page.goto(stop.path)
        stop.act(page)
        yield stop


def sideways(page: Page) -> list[str]:
    """Return a complaint when a page is wider than the screen, otherwise an empty list."""
    width, room = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    return [f"{width} px wide on {room} px"] if width > room else []
