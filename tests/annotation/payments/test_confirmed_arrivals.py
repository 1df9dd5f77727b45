"""Whether a visit is confirmed: by Prolific's API, or by a signed address."""

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa

from annotation.arrivals import Arrival
from annotation.confirmed_arrivals import ids_of_signed_token, session_is_confirmed
from annotation.models import CrowdPlatform
from tests.prolific_server import Fault

HERE = "https://attest.test/join/abc/"
KIM = Arrival("kim", "s1", "visit-1")
IDS = {"PROLIFIC_PID": "kim", "STUDY_ID": "s1", "SESSION_ID": "visit-1"}


@pytest.fixture
def platform():
    return CrowdPlatform(pk=1)


# --- by the API -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("state", "said"),
    [
        ("RESERVED", True),
        ("ACTIVE", True),
        ("AWAITING REVIEW", False),
        ("TIMED-OUT", False),
        ("RETURNED", False),
        ("APPROVED", False),
        ("UNKNOWN", None),
    ],
)
def test_a_visit_is_confirmed_while_it_lasts(prolific, platform, state, said):
    prolific.put("visit-1", "kim", "s1", state)

    assert session_is_confirmed(platform, KIM) is said


@pytest.mark.parametrize(
    "other",
    [
        KIM._replace(person="lee"),
        KIM._replace(platform_study="s2"),
        KIM._replace(platform_study=""),
        KIM._replace(session="visit-2"),
        KIM._replace(session=""),
        KIM._replace(session="../submissions/visit-1"),
    ],
)
def test_other_ids_are_refused(prolific, platform, other):
    prolific.put("visit-1", "kim", "s1")

    assert session_is_confirmed(platform, other) is False


def test_a_part_of_a_study_is_known_by_both_ids(prolific, platform):
    prolific.put("visit-1", "kim", "part-1")
    prolific.submissions["visit-1"]["parent_study_id"] = "s1"

    assert session_is_confirmed(platform, KIM)
    assert session_is_confirmed(platform, KIM._replace(platform_study="part-1"))


def test_nobody_can_say_without_token_answer_or_prolific(prolific, platform, settings, caplog):
    prolific.put("visit-1", "kim", "s1")
    elsewhere = CrowdPlatform(pk=2, is_prolific=False)
    assert session_is_confirmed(elsewhere, KIM) is None

    prolific.is_down = Fault(500)
    assert session_is_confirmed(platform, KIM) is None
    settings.PROLIFIC_TOKEN = ""
    assert session_is_confirmed(platform, KIM) is None

    assert "platform 1 was not confirmed: Prolific is out of order (500)" in caplog.text
    assert "visit-1" not in caplog.text


# --- by a signed address --------------------------------------------------------------------


def test_a_signed_address_gives_the_ids(prolific, platform):
    token = prolific.signed(f"{HERE}?PROLIFIC_PID=kim&STUDY_ID=s1", IDS)

    assert ids_of_signed_token(platform, token, HERE) == KIM


def test_the_ids_have_the_names_of_the_platform_s_parameters(prolific):
    platform = CrowdPlatform(pk=1, person_parameter="who", session_parameter="visit")
    token = prolific.signed(HERE, {"who": "kim", "STUDY_ID": "s1", "visit": "v"}, sub="v")

    assert ids_of_signed_token(platform, token, HERE) == Arrival("kim", "s1", "v")
    assert ids_of_signed_token(CrowdPlatform(pk=2), token, HERE) is None


@pytest.mark.parametrize(
    "claims",
    [
        {"exp": 1_700_000_000},
        {"exp": None},
        {"iss": "https://elsewhere.test"},
        {"iss": None},
        {"sub": "visit-2"},
        {"sub": None},
        {"aud": None},
        {"aud": "https://elsewhere.test/join/abc/"},
        {"aud": "https://attest.test/join/other/"},
        {"aud": "https://attest.test.elsewhere.test/join/abc/"},
        {"aud": "https://[attest.test/"},
        {"aud": ["https://attest.test/join/abc/"]},
        {"prolific": None},
        {"prolific": "kim"},
        {"prolific": {"PROLIFIC_PID": "kim", "STUDY_ID": "s1"}},
        {"prolific": IDS | {"PROLIFIC_PID": 7}},
        {"prolific": IDS | {"PROLIFIC_PID": "{{%PROLIFIC_PID%}}"}},
        {"prolific": IDS | {"STUDY_ID": ""}},
    ],
    ids=lambda claims: str(claims)[:60],
)
def test_a_token_with_another_claim_is_refused(prolific, platform, claims):
    token = prolific.signed(HERE, IDS, **claims)

    assert ids_of_signed_token(platform, token, HERE) is None


def test_a_token_that_another_key_signed_is_refused(prolific, platform):
    mine = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    claims = jwt.decode(prolific.signed(HERE, IDS), options={"verify_signature": False})
    kid = {"kid": prolific.key_id}
    public = prolific.key.public_key().public_numbers().n

    forged = [
        jwt.encode(claims, mine, "RS256", headers=kid),
        jwt.encode(claims, mine, "RS512", headers=kid),
        jwt.encode(claims, prolific.key, "RS256"),  # names no key
        jwt.encode(claims, prolific.key, "RS256", headers={"kid": "another"}),
        jwt.encode(claims, prolific.key, "RS512", headers=kid),
        jwt.encode(claims, str(public), "HS256", headers=kid),
        jwt.encode(claims, "", "none", headers=kid),
        prolific.signed(HERE, IDS)[:-4],
        "nonsense",
        "",
    ]

    assert [ids_of_signed_token(platform, token, HERE) for token in forged] == [None] * 10


def test_keys_are_read_once_and_anew_when_prolific_has_another(prolific, platform, monkeypatch):
    asked = lambda: [each.path for each in prolific.requests]  # noqa: E731
    for _ in range(3):
        assert ids_of_signed_token(platform, prolific.signed(HERE, IDS), HERE)
    assert asked() == ["/.well-known/study/jwks.json"]
    assert prolific.requests[0].authorization == ""

    prolific.key, prolific.key_id = rsa.generate_private_key(65537, 2048), "stand-in-2"
    assert ids_of_signed_token(platform, prolific.signed(HERE, IDS), HERE) is None  # asked just now
    monkeypatch.setattr("annotation.confirmed_arrivals.KEYS_ARE_READ_EVERY", -1)
    assert ids_of_signed_token(platform, prolific.signed(HERE, IDS), HERE) == KIM
    assert len(asked()) == 2


def test_without_prolific_s_keys_no_token_is_valid(prolific, platform, caplog):
    token = prolific.signed(HERE, IDS)
    prolific.is_down = Fault(503)

    assert ids_of_signed_token(platform, token, HERE) is None
    assert ids_of_signed_token(platform, token, HERE) is None

    assert len(prolific.requests) == 1  # people who come do not all wait for it
    assert "kim" not in caplog.text
