"""The ids of a platform stand in the two files of payments, and in nothing else that the site says.

Every page, file and API answer that links or addresses lead to is read, and every report and export
of the command line.
"""

import io
import logging
import zipfile

import pytest
from django.test import Client

from accounts.models import AuditEntry
from annotation.models import Participant
from annotation.services.studies import close_study
from annotation.services.submissions import approve_submissions
from annotation.tasks import follow_visits
from tests.annotation.joining.test_platform import arrive
from tests.annotation.makers import rate_next
from tests.prolific_server import TOKEN
from tests.same_outputs import asked_commands
from tests.same_outputs.collection import Collection, Collector
from tests.same_outputs.crawl import Crawl, Persona
from tests.same_outputs.links import Link

pytestmark = [pytest.mark.walk, pytest.mark.early]
IDS = {"PROLIFIC_PID": "pidKIM77", "STUDY_ID": "stuKIM77", "SESSION_ID": "sesKIM77"}
MARK = "KIM77"  # all three ids have it


class Reader(Crawl):
    """Visits each kind of address; of those with choices only files.

    It leaves out the pages of docs/, and pictures, whose texts could not be read.
    """

    def _is_wanted(self, link):
        path, _, query = link.address.partition("?")
        is_left_out = path.startswith("/docs/") or path.endswith((".png", ".pdf"))
        has_choices = query and "format=" not in query
        return not (is_left_out or has_choices) and super()._is_wanted(link)


def text_of(body):
    """Return an answer's text; of an archive, the text of all that is in it."""
    if not body.startswith(b"PK"):
        return body.decode("utf-8", "replace")
    with zipfile.ZipFile(io.BytesIO(body)) as archive:
        return "".join(name + text_of(archive.read(name)) for name in archive.namelist())


def kim_comes(prolific, platform):
    """Return a person who came from Prolific by the address, rated, and waits for a review."""
    prolific.put("sesKIM77", "pidKIM77", "stuKIM77")
    arrive(platform, Client(), IDS)
    participant = Participant.objects.select_related("rater__study", "rater__user").get()
    while rate_next(participant.rater):
        pass
    prolific.put("sesKIM77", "pidKIM77", "stuKIM77", "AWAITING REVIEW")
    follow_visits()
    return participant


def test_the_ids_stand_in_two_files_alone(prolific, platform, adam, tmp_path, monkeypatch, caplog):
    monkeypatch.setattr(asked_commands, "FORMATS", ("json",))
    monkeypatch.setattr("tests.same_outputs.crawl.MOST_TRIED", 6)
    caplog.set_level(logging.INFO)
    slug = platform.link.study.slug
    kim = kim_comes(prolific, platform)
    approve_submissions(platform, [kim.rater_id], adam)
    close_study(platform.link.study, adam)
    collector = Collector(tmp_path / "answers")

    for user in (adam, kim.rater.user):
        crawl = Reader(Persona(user.username, 1), collector)
        crawl.follow([Link("/"), Link(f"/studies/{slug}/payments/")])
        crawl.visit_unlinked()
    monkeypatch.chdir(tmp_path)
    asked_commands.ask_commands(collector)

    answers = {each: text_of(said.body) for each, said in Collection(tmp_path / "answers").items()}
    with_ids = {address for address, text in answers.items() if MARK in text}
    files = {f"/studies/{slug}/payments/payments.csv", f"/studies/{slug}/payments/approved.txt"}
    assert with_ids == {f"adam GET {file}" for file in files}
    assert len(answers) > 300
    for needed in ("export", "raters", "/api/v1/", "/accounts/audit-trail/", "manifest", "votes"):
        assert any(needed in address for address in answers), needed
    assert not any(MARK in str(entry.details) + entry.subject for entry in AuditEntry.objects.all())
    assert MARK not in caplog.text
    assert not any(TOKEN in text for text in answers.values())
    assert TOKEN not in caplog.text
