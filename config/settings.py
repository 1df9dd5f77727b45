"""One settings file, read from environment variables (.env.example lists them).

With none set: SQLite and a file-system broker, which is a real queue with a real worker.
"""

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

# What the site writes: SQLite, uploads, the queue, the cache. One folder, to back up or delete.
DATA_DIR = Path(env.str("ATTEST_DATA_DIR", default=str(BASE_DIR / "var")))
DATA_DIR.mkdir(mode=0o700, parents=True, exist_ok=True)
if (mode := DATA_DIR.stat().st_mode & 0o7777) & 0o077:  # other users of the machine may look in
    try:
        if mode & 0o1000:  # a folder for everybody, such as /tmp: not ours to close
            raise PermissionError
        DATA_DIR.chmod(0o700)
    except PermissionError as exc:
        raise ImproperlyConfigured(
            f"{DATA_DIR} is open to others (mode {mode:o}). Expected a folder of the site's own: "
            "close it (chmod 700), or name another in ATTEST_DATA_DIR."
        ) from exc

# --- safety ---------------------------------------------------------------------------------

DEBUG = env.bool("DJANGO_DEBUG", default=False)
SECRET_KEY = env.str("DJANGO_SECRET_KEY", default="development-only" if DEBUG else "")
ALLOWED_HOSTS: list[str] = env.list(
    "DJANGO_ALLOWED_HOSTS", default=["127.0.0.1", "localhost"] if DEBUG else []
)
SHORTEST_SECRET_KEY = 50  # characters
if not SECRET_KEY:
    raise ImproperlyConfigured("Set DJANGO_SECRET_KEY, or DJANGO_DEBUG=1 for development.")
if not DEBUG and len(SECRET_KEY) < SHORTEST_SECRET_KEY:
    raise ImproperlyConfigured(
        f"DJANGO_SECRET_KEY has {len(SECRET_KEY)} characters; expected {SHORTEST_SECRET_KEY} or "
        "more, drawn at random: python -c 'import secrets; print(secrets.token_urlsafe(50))'"
    )
if not DEBUG and (not ALLOWED_HOSTS or "*" in ALLOWED_HOSTS):
    raise ImproperlyConfigured("DJANGO_ALLOWED_HOSTS must name the site's hosts, without '*'.")
if DEBUG and not set(ALLOWED_HOSTS) <= {"127.0.0.1", "localhost", "[::1]"}:
    # `make demo` leaves DJANGO_DEBUG=1 in .env: no server may run with that by oversight.
    raise ImproperlyConfigured("DJANGO_DEBUG=1 is for this machine alone: unset it, or the hosts.")
CSRF_TRUSTED_ORIGINS: list[str] = env.list("DJANGO_CSRF_TRUSTED_ORIGINS", default=[])

SECURE_SSL_REDIRECT = not DEBUG
SECURE_HSTS_SECONDS = 0 if DEBUG else 365 * 24 * 3600
SECURE_HSTS_INCLUDE_SUBDOMAINS = not DEBUG
SECURE_HSTS_PRELOAD = not DEBUG
# How many proxies stand in front, each of which sets X-Forwarded-Proto and adds to
# X-Forwarded-For. With none these headers are anybody's word and are not read.
N_PROXIES = env.int("DJANGO_PROXIES", default=0)
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if N_PROXIES else None
SECURE_REFERRER_POLICY = "same-origin"
SESSION_COOKIE_SECURE = not DEBUG
CSRF_COOKIE_SECURE = not DEBUG
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
    # Rooms of evaluation with commands and template tags of their own; none has models.
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
    # rest_framework and django_filters are used and not listed: no HTML of theirs is shown.
    "drf_spectacular",
    "drf_spectacular_sidecar",
]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "config.middleware.refuse_nul",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "config.middleware.sign_in_again_with_htmx",
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
            ],
            "builtins": ["accounts.templatetags.components"],
        },
    }
]

# --- accounts -------------------------------------------------------------------------------

AUTH_USER_MODEL = "accounts.User"
AUTHENTICATION_BACKENDS = [
    "axes.backends.AxesStandaloneBackend",  # first: refuses before a password is looked at
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
AXES_FAILURE_LIMIT = 1  # of its locks, each of which has a limit of wrong passwords
AXES_LOCKOUT_CALLABLE = "accounts.throttling.shut_out"
AXES_CLIENT_IP_CALLABLE = "config.middleware.client_address"
AXES_COOLOFF_TIME = 0.25  # hours that a wrong password counts
AXES_RESET_COOL_OFF_ON_FAILURE_DURING_LOCKOUT = False
AXES_RESET_ON_SUCCESS = True
# What the right password clears: an address or a name alone would be cleared by anybody's.
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_HTTP_RESPONSE_CODE = 429
# How long it is known who signed in, from where, and by which link.
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
    "DESCRIPTION": "Data, votes, metric runs and reports; raters are codes. Programs send a token "
    "of [yours](/accounts/api-tokens/); this page asks as you. [Back to Attest](/)",
    "VERSION": VERSION,
    "SERVE_INCLUDE_SCHEMA": False,
    "SERVE_PERMISSIONS": ["accounts.authentication.IsResearcher"],
    "SCHEMA_PATH_PREFIX": "/api/v1",
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
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
    if sqlite_version_info < (3, 35):  # the rating queue takes a slot by UPDATE … RETURNING
        raise ImproperlyConfigured(f"SQLite is {sqlite_version}; expected 3.35 or newer.")
    # IMMEDIATE takes the write lock when a transaction begins: without it, WAL and the timeout,
    # concurrent raters see 'database is locked'.
    DATABASE["OPTIONS"] = {
        "timeout": 20,
        "transaction_mode": "IMMEDIATE",
        "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;",
    }
    # In memory, parallel requests to a live server find a locked table.
    DATABASE["TEST"] = {"NAME": str(DATA_DIR / "test.sqlite3")}
else:
    DATABASE |= {"CONN_MAX_AGE": 60, "CONN_HEALTH_CHECKS": True}
    # A statement that comes again is planned once: half of the database's time for a rated unit.
    DATABASE["OPTIONS"] = {"server_side_binding": True, "prepare_threshold": 5}
DATABASES = {"default": DATABASE}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# Progress of a running import is read from the cache, so it must be shared by site and worker.
CACHE: dict[str, Any] = env.cache("CACHE_URL", default=f"filecache://{DATA_DIR / 'cache'}")
if CACHE["BACKEND"].endswith("FileBasedCache"):
    CACHE["BACKEND"] = "config.cache.FileCache"
    # Beyond that many it drops a third at random, the figures of studies among them.
    CACHE["OPTIONS"] = {"MAX_ENTRIES": 10_000}
elif CACHE["BACKEND"].endswith("RedisCache"):
    CACHE["BACKEND"] = "config.cache.RedisCache"
    CACHE["OPTIONS"] = {"socket_connect_timeout": 2.0, "socket_timeout": 5.0}
CACHES = {"default": CACHE}

QUEUE_DIR = DATA_DIR / "queue"
CELERY_BROKER_URL = env.str("CELERY_BROKER_URL", default="filesystem://")
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
# Here and not on the command line: a model takes its share of the cores by it.
CELERY_WORKER_CONCURRENCY = env.int("ATTEST_WORKER_PROCESSES", default=2)
CELERY_TASK_IGNORE_RESULT = True
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
# Beat sends what could not be sent: nobody waits for long while a page is made.
CELERY_BROKER_CONNECTION_TIMEOUT = 2.0
CELERY_TASK_PUBLISH_RETRY_POLICY = {"max_retries": 1, "interval_start": 0.1}
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
# Two installations may share a broker, each with a queue of its own.
CELERY_TASK_DEFAULT_QUEUE = env.str("ATTEST_QUEUE", default="celery")
# Chunks of runs, and jobs, wait in a queue of their own: a worker takes from both in turn, so that
# an import or a figure does not wait until a long run is over. What waits for a server most of the
# time has a third one, with a process of threads for it (`work.processes`): servers that hang
# take nobody else's place.
CHUNK_QUEUE = f"{CELERY_TASK_DEFAULT_QUEUE}-chunks"
SERVER_QUEUE = f"{CELERY_TASK_DEFAULT_QUEUE}-servers"
SERVER_THREADS = 16
CELERY_TASK_TIME_LIMIT = 3600
CELERY_TASK_SOFT_TIME_LIMIT = 3540
if CELERY_BROKER_URL.startswith("filesystem"):
    (QUEUE_DIR / "messages").mkdir(parents=True, exist_ok=True)
    CELERY_WORKER_ENABLE_REMOTE_CONTROL = False  # a queue of its own for what nobody sends
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
# What beat sends so often is also what workers show by that they are alive.
BEAT_SECONDS = env.float("ATTEST_BEAT_SECONDS", default=5.0)
CELERY_BEAT_SCHEDULE = {
    "resend-interrupted-imports": {
        "task": "evaluation.tasks.resend_interrupted_imports",
        "schedule": 20.0,
    },
    "resend-lost-grids": {
        "task": "evaluation.tasks.resend_lost_grids",
        "schedule": BEAT_SECONDS,
        "options": {"expires": 30.0},
    },
    "resend-lost-chunks": {
        "task": "evaluation.tasks.resend_lost_chunks",
        "schedule": BEAT_SECONDS,
        "options": {"expires": 30.0},  # they pile up behind long work
    },
    "resend-lost-jobs": {
        "task": "evaluation.tasks.resend_lost_jobs",
        "schedule": BEAT_SECONDS,
        "options": {"expires": 30.0},
    },
    "forget-old-imports": {
        "task": "evaluation.tasks.forget_old_imports",
        "schedule": 24 * 3600.0,
    },
    "forget-old-sign-ins": {
        "task": "accounts.tasks.forget_old_sign_ins",
        "schedule": 24 * 3600.0,
    },
}
# Without a sign of life for this long, a worker that scores a chunk of a run counts as dead.
CHUNK_LEASE_SECONDS = env.int("ATTEST_CHUNK_LEASE_SECONDS", default=60)
# Without one of any worker for so long, pages say so, and `work` starts the workers anew.
SILENT_AFTER_SECONDS = env.float("ATTEST_SILENT_AFTER_SECONDS", default=60.0)

# What finds names of entities in questions: an installed spaCy model, or a folder of one. Where
# there is none, or this is empty, the labels of the knowledge graph do.
SPACY_MODEL = env.str("ATTEST_SPACY_MODEL", default="en_core_web_sm")

# Whom owners of SPARQL endpoints may write to: Wikidata's want a mail address or a page.
CONTACT = env.str("ATTEST_CONTACT", default="")

# --- files, time, logs ----------------------------------------------------------------------

STATIC_URL = "static/"
STATIC_ROOT = DATA_DIR / "static"
STATIC_ROOT.mkdir(exist_ok=True)  # whitenoise warns when it is missing
STATICFILES_DIRS = [BASE_DIR / "static"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"
        if DEBUG
        else "whitenoise.storage.CompressedManifestStaticFilesStorage"
    },
}
WHITENOISE_USE_FINDERS = DEBUG
MEDIA_ROOT = DATA_DIR / "uploads"  # never served: imports are read from here by the worker
FILE_UPLOAD_HANDLERS = ["config.upload_handler.BoundedUploadHandler"]
MAX_UPLOAD_BYTES = env.int("ATTEST_MAX_UPLOAD_BYTES", default=512 * 1024**2)
# Of the process that checks or stores one upload; small ones get less, see import_process.
IMPORT_MEGABYTES = env.int("ATTEST_IMPORT_MEGABYTES", default=1500)
IMPORT_SECONDS = env.int("ATTEST_IMPORT_SECONDS", default=3600)
# Whether researchers import too, and not admins alone; so in the demo.
RESEARCHERS_IMPORT = env.bool("ATTEST_RESEARCHERS_IMPORT", default=DEBUG)

LANGUAGE_CODE = "en"
USE_TZ = True
TIME_ZONE = "UTC"

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"plain": {"format": "{asctime} {levelname} {name}: {message}", "style": "{"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "plain"}},
    "root": {"handlers": ["stderr"], "level": env.str("ATTEST_LOG_LEVEL", default="WARNING")},
}
