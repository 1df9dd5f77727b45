"""The settings, which are read from environment variables (.env.example lists them).

Without any, the site uses SQLite and a broker in the file system: a real queue with real workers.
"""

import os
from pathlib import Path
from sqlite3 import sqlite_version, sqlite_version_info
from typing import Any

import environ
from csp.constants import NONE, SELF
from django.core.exceptions import ImproperlyConfigured

BASE_DIR = Path(__file__).resolve().parent.parent
VERSION = "0.1.0"

env = environ.Env()
environ.Env.read_env(BASE_DIR / ".env")

# Whatever site, workers and commands write is for their user alone, wherever it is.
os.umask(0o077)
FILE_UPLOAD_PERMISSIONS, FILE_UPLOAD_DIRECTORY_PERMISSIONS = 0o600, 0o700
# The site writes into this one folder, which can be backed up or deleted: SQLite's file, uploads,
# the queue, the cache.
DATA_DIR = Path(env.str("ATTEST_DATA_DIR", default=str(BASE_DIR / "var")))
DATA_DIR.mkdir(mode=0o700, parents=True, exist_ok=True)
if (mode := DATA_DIR.stat().st_mode & 0o7777) & 0o077:  # other users of the machine have access
    try:
        if mode & 0o1000:  # a shared folder, such as /tmp, must stay open
            raise PermissionError
        DATA_DIR.chmod(0o700)
    except PermissionError as exc:
        raise ImproperlyConfigured(
            f"{DATA_DIR} is open to others (mode {mode:o}). Expected a folder of the site's own: "
            "close it (chmod 700), or name another in ATTEST_DATA_DIR."
        ) from exc

# --- safety ---------------------------------------------------------------------------------

# Whether this is a site on its user's own machine, where the demo's public passwords are accepted.
IS_ON_OWN_MACHINE = env.bool("DJANGO_DEBUG", default=False)
# The demo shows the site's own pages of errors, as a server does.
DEBUG = IS_ON_OWN_MACHINE and not env.bool("ATTEST_IS_DEMO", default=False)
SECRET_KEY = env.str("DJANGO_SECRET_KEY", default="development-only" if IS_ON_OWN_MACHINE else "")
ALLOWED_HOSTS: list[str] = env.list(
    "DJANGO_ALLOWED_HOSTS", default=["127.0.0.1", "localhost"] if IS_ON_OWN_MACHINE else []
)
SHORTEST_SECRET_KEY = 50  # characters
if not SECRET_KEY:
    raise ImproperlyConfigured(
        "Set DJANGO_SECRET_KEY. On your own machine, set DJANGO_DEBUG=1 instead."
    )
if not IS_ON_OWN_MACHINE and len(SECRET_KEY) < SHORTEST_SECRET_KEY:
    raise ImproperlyConfigured(
        f"DJANGO_SECRET_KEY has {len(SECRET_KEY)} characters; expected {SHORTEST_SECRET_KEY} or "
        "more, drawn at random: python -c 'import secrets; print(secrets.token_urlsafe(50))'"
    )
if not IS_ON_OWN_MACHINE and (not ALLOWED_HOSTS or "*" in ALLOWED_HOSTS):
    raise ImproperlyConfigured(
        "Set DJANGO_ALLOWED_HOSTS to the names of the site's hosts, without '*'."
    )
if IS_ON_OWN_MACHINE and not set(ALLOWED_HOSTS) <= {"127.0.0.1", "localhost", "[::1]"}:
    # `make demo` leaves DJANGO_DEBUG=1 in .env. No server may run with that by mistake.
    raise ImproperlyConfigured(
        "DJANGO_DEBUG=1 is only for a site on your own machine, but DJANGO_ALLOWED_HOSTS names "
        "other hosts. Unset one of the two."
    )
CSRF_TRUSTED_ORIGINS: list[str] = env.list("DJANGO_CSRF_TRUSTED_ORIGINS", default=[])

SECURE_SSL_REDIRECT = not IS_ON_OWN_MACHINE
SECURE_HSTS_SECONDS = 0 if IS_ON_OWN_MACHINE else 365 * 24 * 3600
SECURE_HSTS_INCLUDE_SUBDOMAINS = not IS_ON_OWN_MACHINE
SECURE_HSTS_PRELOAD = not IS_ON_OWN_MACHINE
# The number of proxies in front. Each sets X-Forwarded-Proto and adds to X-Forwarded-For. Without
# proxies any caller can send these headers, so they are not read.
N_PROXIES = env.int("DJANGO_PROXIES", default=0)
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if N_PROXIES else None
SECURE_REFERRER_POLICY = "same-origin"
SESSION_COOKIE_SECURE = not IS_ON_OWN_MACHINE
CSRF_COOKIE_SECURE = not IS_ON_OWN_MACHINE
CSRF_FAILURE_VIEW = "accounts.views.csrf_failure"
SESSION_COOKIE_HTTPONLY = True
X_FRAME_OPTIONS = "DENY"
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF, "data:"],
        "font-src": [SELF],
        "connect-src": [SELF],
        "form-action": [SELF],
        "base-uri": [NONE],
        "frame-ancestors": [NONE],
    }
}

# --- the application ------------------------------------------------------------------------

INSTALLED_APPS = [
    "accounts",
    "work",
    "generation",
    "annotation",
    "evaluation",
    # Parts of evaluation that have commands or template tags of their own; none has models.
    "evaluation.runs",
    "evaluation.exchange",
    "evaluation.studies",
    "evaluation.graphs",
    "evaluation.tradeoffs",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
    "django_htmx",
    "csp",
    "axes",
    # rest_framework and django_filters are used, but not listed, because their HTML is not shown.
    "drf_spectacular",
]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "config.middleware.refuse_nul",
    "config.middleware.speak_english_at_first",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "config.middleware.keep_signed_in_pages_out_of_caches",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "config.middleware.sign_in_again_with_htmx",
    "config.middleware.explain_refused_methods",
    "config.middleware.KnownNumbers",
    "config.middleware.ServerTrouble",
    "axes.middleware.AxesMiddleware",  # last, as its documentation asks
]
ROOT_URLCONF = "config.urls"
WSGI_APPLICATION = "config.wsgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "accounts.access.roles",
                "accounts.access.languages",
                "config.page_help.page_help",
            ],
            "builtins": [
                "accounts.templatetags.components",
                "generation.templatetags.texts",
                "config.tabs",
                "django.templatetags.i18n",
            ],
        },
    }
]

# --- accounts -------------------------------------------------------------------------------

AUTH_USER_MODEL = "accounts.User"
AUTHENTICATION_BACKENDS = [
    "axes.backends.AxesStandaloneBackend",  # first, so that it refuses before a password is checked
    "accounts.backends.DemoPasswordsRefused",
    "django.contrib.auth.backends.ModelBackend",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
] + [{"NAME": "accounts.backends.NoDemoPassword"}]
LOGIN_URL = "accounts:sign-in"
LOGIN_REDIRECT_URL = "home"
LOGOUT_REDIRECT_URL = "accounts:sign-in"
AXES_HANDLER = "accounts.throttling.SignInThrottle"
AXES_FAILURE_LIMIT = 1  # number of shut locks; each lock has its own limit of wrong passwords
AXES_LOCKOUT_CALLABLE = "accounts.throttling.shut_out"
AXES_CLIENT_IP_CALLABLE = "config.middleware.client_address"
AXES_COOLOFF_TIME = 0.25  # hours for which a wrong password counts
AXES_RESET_COOL_OFF_ON_FAILURE_DURING_LOCKOUT = False
AXES_RESET_ON_SUCCESS = True
# The right password clears the wrong ones of the same name and address. If it cleared those of an
# address or a name alone, any other person's right password could do so.
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_HTTP_RESPONSE_CODE = 429
# The days for which the site keeps who signed in, from where, and by which link, and the hashes of
# the networks from which people joined studies.
SIGN_IN_RECORD_DAYS = env.int("ATTEST_SIGN_IN_RECORD_DAYS", default=90)

# --- API ------------------------------------------------------------------------------------

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "accounts.authentication.BearerAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": [
        "accounts.authentication.IsResearcher",
        "accounts.authentication.ReadOnlyTokensRead",
    ],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["generation.request_body.StrictJSONParser"],
    "EXCEPTION_HANDLER": "accounts.api.refused_as_json",
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "DEFAULT_THROTTLE_CLASSES": ["accounts.authentication.PerToken"],
    "DEFAULT_THROTTLE_RATES": {"api": env.str("ATTEST_API_RATE", default="600/minute")},
    "URL_FORMAT_OVERRIDE": None,
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Attest",
    "DESCRIPTION": "Data, votes, metric runs and reports; raters are codes. Programs send a token.",
    "VERSION": VERSION,
    "SERVE_INCLUDE_SCHEMA": False,
    "SERVE_PERMISSIONS": ["accounts.authentication.IsResearcher"],
    "SCHEMA_PATH_PREFIX": "/api/v1",
    "ENUM_NAME_OVERRIDES": {
        "ArmEnum": "annotation.models.Arm.Kind",
        "EvidenceChoiceEnum": "generation.evidence.EvidenceChoice",
    },
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "accounts.api.document_errors",
    ],
}

# --- database, cache, queue -----------------------------------------------------------------

DATABASE: dict[str, Any] = env.db(
    "DATABASE_URL", default=f"sqlite:///{DATA_DIR / 'attest.sqlite3'}"
)
if DATABASE["ENGINE"].endswith("sqlite3"):
    if sqlite_version_info < (3, 35):  # raters get their slots by UPDATE … RETURNING
        raise ImproperlyConfigured(f"SQLite is {sqlite_version}; expected 3.35 or newer.")
    # IMMEDIATE takes the write lock when a transaction begins. Without it, WAL and the timeout,
    # concurrent raters would get the error 'database is locked'.
    DATABASE["OPTIONS"] = {
        "timeout": 20,
        "transaction_mode": "IMMEDIATE",
        "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;",
    }
    # With a database in memory, parallel requests to a live server would find a locked table.
    DATABASE["TEST"] = {"NAME": str(DATA_DIR / "test.sqlite3")}
else:
    DATABASE |= {"CONN_MAX_AGE": 60, "CONN_HEALTH_CHECKS": True}
    # A repeated statement is planned once, which halves the database's time for a rated unit.
    DATABASE["OPTIONS"] = {"server_side_binding": True, "prepare_threshold": 5}
DATABASES = {"default": DATABASE}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# The progress of a running import is in the cache, so the site and the workers must share it.
CACHE: dict[str, Any] = env.cache("CACHE_URL", default=f"filecache://{DATA_DIR / 'cache'}")
if CACHE["BACKEND"].endswith("FileBasedCache"):
    CACHE["BACKEND"] = "config.cache.FileCache"
    # Beyond this number it deletes a third of its entries at random, also figures of studies.
    CACHE["OPTIONS"] = {"MAX_ENTRIES": 10_000}
elif CACHE["BACKEND"].endswith("RedisCache"):
    CACHE["BACKEND"] = "config.cache.RedisCache"
    CACHE["OPTIONS"] = {"socket_connect_timeout": 2.0, "socket_timeout": 5.0}
# Every page needs its session. It is read from a cache of its own, and the database has it too.
SESSION_CACHE = CACHE | {"KEY_PREFIX": "session"}
if CACHE["BACKEND"].endswith("FileCache"):
    SESSION_CACHE["LOCATION"] = f"{CACHE['LOCATION']}/sessions"
CACHES = {"default": CACHE, "sessions": SESSION_CACHE}
SESSION_ENGINE = "django.contrib.sessions.backends.cached_db"
SESSION_CACHE_ALIAS = "sessions"

QUEUE_DIR = DATA_DIR / "queue"
CELERY_BROKER_URL = env.str("CELERY_BROKER_URL", default="filesystem://")
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
# The number of heavy worker processes (`work.workers`). A model's share of the cores depends on it,
# in whatever process the model is, and not on `--concurrency` of the command line.
CELERY_WORKER_CONCURRENCY = env.int("ATTEST_WORKER_PROCESSES", default=2)
CELERY_TASK_IGNORE_RESULT = True
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
# Beat later sends what could not be sent, so a page need not wait long for the broker.
CELERY_BROKER_CONNECTION_TIMEOUT = 2.0
CELERY_TASK_PUBLISH_RETRY_POLICY = {"max_retries": 1, "interval_start": 0.1}
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
# Two installations may share a broker, each with a queue of its own.
CELERY_TASK_DEFAULT_QUEUE = env.str("ATTEST_QUEUE", default="celery")
# What computes long or loads a model has a queue of its own: chunks of runs and grids, and jobs.
# Each queue has workers of its own (`work.workers`), so that an import or a figure does not wait
# until a long run is over. Work that mostly waits for a server has a third queue and a process of
# threads, so that servers which do not answer block no other work.
CHUNK_QUEUE = f"{CELERY_TASK_DEFAULT_QUEUE}-chunks"
SERVER_QUEUE = f"{CELERY_TASK_DEFAULT_QUEUE}-servers"
SERVER_THREADS = 16
CELERY_TASK_TIME_LIMIT = 3600
CELERY_TASK_SOFT_TIME_LIMIT = 3540
if CELERY_BROKER_URL.startswith("filesystem"):
    (QUEUE_DIR / "messages").mkdir(parents=True, exist_ok=True)
    CELERY_WORKER_ENABLE_REMOTE_CONTROL = False  # it needs a queue, and is not used here
    CELERY_BROKER_TRANSPORT_OPTIONS: dict[str, Any] = {
        "data_folder_in": str(QUEUE_DIR / "messages"),
        "data_folder_out": str(QUEUE_DIR / "messages"),
        "control_folder": str(QUEUE_DIR / "control"),
        "polling_interval": 0.1,
    }
elif CELERY_BROKER_URL.startswith("redis"):
    CELERY_BROKER_TRANSPORT_OPTIONS = {
        "visibility_timeout": CELERY_TASK_TIME_LIMIT + 600,
        "unacked_restore_throttle": 1,
        "socket_keepalive": True,
        "health_check_interval": 30,
    }
else:
    CELERY_TASK_DEFAULT_QUEUE_TYPE = "quorum"
    CELERY_WORKER_DETECT_QUORUM_QUEUES = True
    CELERY_BROKER_TRANSPORT_OPTIONS = {"confirm_publish": True}
_QUEUE_TYPE = {"x-queue-type": "quorum"} if CELERY_BROKER_URL.startswith("amqp") else None
CELERY_TASK_QUEUES = {
    name: {"exchange": name, "routing_key": name, "queue_arguments": _QUEUE_TYPE}
    for name in (CELERY_TASK_DEFAULT_QUEUE, CHUNK_QUEUE, SERVER_QUEUE)
}
CELERY_BEAT_SCHEDULE_FILENAME = str(DATA_DIR / "beat-schedule")
# Beat sends a task at this interval. By taking it, workers also show that they are alive.
BEAT_SECONDS = env.float("ATTEST_BEAT_SECONDS", default=5.0)
CELERY_BEAT_SCHEDULE = {
    "resend-lost-work": {
        "task": "work.tasks.resend_lost_work",
        "schedule": BEAT_SECONDS,
        "options": {"expires": 30.0},  # seconds; behind long work, messages would pile up
    },
    "follow-visits": {
        "task": "annotation.tasks.follow_visits",
        "schedule": 60.0,
        "options": {"expires": 60.0, "queue": SERVER_QUEUE},
    },
    "forget-old-imports": {
        "task": "evaluation.tasks.forget_old_imports",
        "schedule": 24 * 3600.0,
    },
    "forget-old-sign-ins": {
        "task": "accounts.tasks.forget_old_sign_ins",
        "schedule": 24 * 3600.0,
    },
    "forget-networks": {
        "task": "annotation.tasks.forget_networks",
        "schedule": 24 * 3600.0,
    },
}
# Without a sign of life for this long, a worker that scores a chunk of a run counts as dead.
CHUNK_LEASE_SECONDS = env.int("ATTEST_CHUNK_LEASE_SECONDS", default=60)
# Without a sign of any worker for this long, pages report it, and `work` starts the workers again.
SILENT_AFTER_SECONDS = env.float("ATTEST_SILENT_AFTER_SECONDS", default=60.0)

# The spaCy model that finds names of entities in questions: an installed one, or its folder. If
# there is none, or this is empty, names are found by the labels of the knowledge graph.
SPACY_MODEL = env.str("ATTEST_SPACY_MODEL", default="en_core_web_sm")

# The tokens that judges may use for thinking, besides those of the reply that is read.
THINKING_TOKENS = env.int("ATTEST_THINKING_TOKENS", default=0)
# A contact for owners of SPARQL endpoints. Wikidata's owners want a mail address or a page.
CONTACT = env.str("ATTEST_CONTACT", default="")

# With a token of Prolific's API the site asks how submissions stand; without, people use files.
PROLIFIC_TOKEN = env.str("ATTEST_PROLIFIC_TOKEN", default="").strip()
PROLIFIC_API = env.str("ATTEST_PROLIFIC_API", default="https://api.prolific.com").rstrip("/")

# --- files, time, logs ----------------------------------------------------------------------

STATIC_URL = "static/"
STATIC_ROOT = DATA_DIR / "static"
STATIC_ROOT.mkdir(exist_ok=True)  # whitenoise warns when it is missing
STATICFILES_DIRS = [BASE_DIR / "static"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"
        if IS_ON_OWN_MACHINE
        else "whitenoise.storage.CompressedManifestStaticFilesStorage"
    },
}
WHITENOISE_USE_FINDERS = IS_ON_OWN_MACHINE
MEDIA_ROOT = DATA_DIR / "uploads"  # never served: imports are read from here by the worker
FILE_UPLOAD_HANDLERS = ["config.upload_handler.BoundedUploadHandler"]
MAX_UPLOAD_BYTES = env.int("ATTEST_MAX_UPLOAD_BYTES", default=512 * 1024**2)
# The memory of the process that checks or stores one upload; less for small ones (import_process).
IMPORT_MEGABYTES = env.int("ATTEST_IMPORT_MEGABYTES", default=1500)
IMPORT_SECONDS = env.int("ATTEST_IMPORT_SECONDS", default=3600)
# Whether researchers may import data, and not only admins. In the demo they may.
RESEARCHERS_IMPORT = env.bool("ATTEST_RESEARCHERS_IMPORT", default=IS_ON_OWN_MACHINE)

# The language of all pages of researchers and admins, and the languages of pages for raters
# (`accounts.languages`).
LANGUAGE_CODE = "en"
LANGUAGES = [("en", "English"), ("de", "Deutsch")]
LOCALE_PATHS = [BASE_DIR / "locale"]
LANGUAGE_COOKIE_AGE = 365 * 24 * 3600
LANGUAGE_COOKIE_HTTPONLY = True
LANGUAGE_COOKIE_SECURE = not IS_ON_OWN_MACHINE
USE_TZ = True
TIME_ZONE = "UTC"

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"plain": {"format": "{asctime} {levelname} {name}: {message}", "style": "{"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "plain"}},
    # At INFO it logs every address that the site asks. Those of a crowd platform name people.
    "loggers": {"httpx2": {"level": "WARNING"}},
    "root": {"handlers": ["stderr"], "level": env.str("ATTEST_LOG_LEVEL", default="WARNING")},
}
