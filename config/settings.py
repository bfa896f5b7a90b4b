"""Django's settings, all derived from config/options.py."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from config import __version__, options, readers, secret, stores, written
from config.storage import homes


class Unsaid(str):
    """A value that libraries read, while to Django it seems not to be set."""

    __slots__ = ()

    def __bool__(self) -> bool:
        return False


BASE_DIR = Path(__file__).resolve().parent.parent
written.adopt(os.environ)
SVC = options.load(os.environ)
DATA_DIR = readers.make_directory("SVC_DATA_DIR", SVC.data_dir)
for folder in ("state/locks", "cache/static", "logs", "run"):
    readers.make_directory("SVC_DATA_DIR", DATA_DIR / folder)
PROJECTS_DIR = readers.make_directory("SVC_PROJECTS_DIR", SVC.projects_dir)
SVC_HOME = homes.read_or_make(PROJECTS_DIR) if SVC.database_url else ""

SECRET_KEY = secret.read_or_make(DATA_DIR)
DEBUG = False
ALLOWED_HOSTS = ["*"]  # the guard checks it on every surface, before Django (config/web/guard.py)
USE_TZ = True
TIME_ZONE = Unsaid("UTC")  # if set, Django would put it into TZ for this process and all it starts
APPEND_SLASH = False
ROOT_URLCONF = "config.urls.main"
ASGI_APPLICATION = "config.asgi.application"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

INSTALLED_APPS = [
    "config",
    "django.contrib.contenttypes",
    "django.contrib.auth",
    "django.contrib.messages",
    "django.contrib.admin.apps.SimpleAdminConfig",
    "django.contrib.staticfiles",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "channels",
    "workspace",
    "review",
    "dashboard",
    "django_q",
]

MIDDLEWARE = [
    "config.web.surfaces.SurfaceMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
]
MESSAGE_STORAGE = "django.contrib.messages.storage.cookie.CookieStorage"

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
            ],
        },
    },
]

DATABASES = {"default": stores.database(SVC.database_url, DATA_DIR)}

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["config.web.surfaces.PrincipalAuthentication"],
    "DEFAULT_PERMISSION_CLASSES": [],
    "DEFAULT_RENDERER_CLASSES": [
        "config.web.wire.JSONRenderer",
        "config.web.wire.BrowsableRenderer",
    ],
    "DEFAULT_PARSER_CLASSES": ["config.web.wire.JSONParser"],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "EXCEPTION_HANDLER": "config.web.wire.exception_handler",
    "UNAUTHENTICATED_USER": None,
    "DEFAULT_CONTENT_NEGOTIATION_CLASS": "config.web.wire.Negotiation",
    "DEFAULT_METADATA_CLASS": None,  # OPTIONS is 405
    "URL_FORMAT_OVERRIDE": None,
}

SPECTACULAR_SETTINGS = {
    "TITLE": "svc",
    "VERSION": __version__,
    "AUTHENTICATION_WHITELIST": [],  # the guard authenticates, as the mode of the instance requires
    "ENUM_NAME_OVERRIDES": {
        "ProjectStatus": "workspace.projects.schema.STATUSES",
        "RunStatus": "workspace.triggers.render.STATUSES",
        "CommitStatus": "review.api.shapes.STATUSES",
        "FileStatus": "review.api.shapes.FILE_STATUSES",
        "BranchStatus": "review.api.shapes.BRANCH_STATUSES",
        "StoredStatus": "review.api.shapes.STORED",
        "Source": "review.api.shapes.SOURCES",
        "Side": "review.api.shapes.SIDES",
        "Verdict": "review.api.shapes.VERDICTS",
        "AppState": "dashboard.operations.apps.STATES",
        "AppSource": "dashboard.operations.apps.SOURCES",
        "ServiceStatus": "dashboard.services.record.STATUSES",
        "LostStatus": "dashboard.reboot.render.STATUSES",
    },
    "SERVE_INCLUDE_SCHEMA": False,
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_SETTINGS": {"deepLinking": False},  # deep links are inside buttons
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "REDOC_DIST": "SIDECAR",
}

# Long turns have a cluster of their own. `retry` must exceed `timeout`.
Q_CLUSTER: dict[str, Any] = {
    "name": homes.queue("svc", SVC_HOME),
    "label": "Queue",
    "orm": "default",
    "broker_class": "workspace.broker.WakingBroker",
    "workers": 2,
    "poll": 1,
    "guard_cycle": 2,
    "catch_up": False,
    "scheduler": False,
    "timeout": 120,
    "retry": 600,
    "max_attempts": 1,
    "ack_failures": True,
    "save_limit": 250,
    "ALT_CLUSTERS": {
        homes.queue("turns", SVC_HOME): {
            "workers": SVC.running_turns,
            "timeout": SVC.turn_seconds + SVC.ask_hours * 3600 + 180,
            "retry": SVC.turn_seconds + SVC.ask_hours * 3600 + 900,
            "queue_limit": 1,
            "bulk": 1,
            "recycle": 200,
        },
    },
}

SVC_AUTHENTICATE = "workspace.access.browser.authenticate"  # scope -> principal or Refusal
SVC_PROXIED = "workspace.access.clients.proxied_here"  # () -> whether a proxy here is configured
SVC_FRONTED = "dashboard.api.hosts.fronted_names"  # () -> further host names of the dashboard
SVC_DOCTOR = [  # () -> findings, listed after the kernel's own
    "config.process.postgres.check",
    "config.process.installation.check",
    "config.process.lacks.check",
    "workspace.doctor.check",
    "dashboard.doctor.check",
]
SVC_WARNINGS = "workspace.engines.select.warnings"  # () -> warnings for every page of every part
SVC_METRICS = [  # () -> metrics, for GET /metrics
    "config.process.vitals.measure",
    "workspace.metrics.measure",
    "dashboard.metrics.measure",
]
# start() once the ports are open, stop() in reverse order
SVC_BACKGROUND = [
    "workspace.background.watcher.Background",
    "workspace.boot.ManagementApi",
    "workspace.boot.Agents",
    "workspace.notify.showing.Pages",
    "review.background.watcher.Background",
    "dashboard.background.Background",
    "config.assets.Packing",
]
# what runs before the fork, and the body of the process that then runs beside the server
SVC_SCHEDULER = (
    "workspace.triggers.schedule.qcluster.warm",
    "workspace.triggers.schedule.qcluster.serve",
)
# options -> the port to open, for parts whose own files may set it
SVC_PORTS = {"dashboard": "dashboard.daemon.ownport.port_to_open"}
# () -> one line; `manage.py reindex`
SVC_INDEXES = ["workspace.reindex.reindex", "review.reindex.reindex"]
SVC_WORKING_DIR = "workspace.projects.store.working_dir"  # slug -> where its agents work, or None
SVC_UNDER_REVIEW = "review.stacks.moving.ensure"  # (slug, top of a work tree): puts it under review
SVC_CHATS = "workspace.asking"  # how other parts ask an agent (config/web/asking.py)
# what this node publishes about itself to the others (config/process/nodes.py): () -> a JSON value
SVC_NODE_FACTS = {
    "home": "config.storage.homes.home",
    "apps": "dashboard.operations.nodes.apps",
    "dashboard": "dashboard.operations.nodes.address",
}
# classes with describe_others() and forget(id): rows of other homes and nodes in a shared database
SVC_ELSEWHERE = [
    "workspace.reindex.Rows",
    "review.reindex.Rows",
    "dashboard.history.scope.Rows",
]
SVC_PERSON = "review.reviewer.me"  # () -> `id` and `name` of this machine's reviewer
SVC_BACKUP = {  # name in the archive -> folder
    "projects": PROJECTS_DIR,
    "dashboard": DATA_DIR / "dashboard",
    "drafts": DATA_DIR / "state/review/drafts",
}

if SVC.redis_url:
    Q_CLUSTER |= {"redis": SVC.redis_url, "broker_class": "workspace.broker.RedisBroker"}
    CHANNEL_LAYERS = stores.channel_layers(SVC.redis_url)
    SVC_BACKGROUND[:0] = ["config.web.relay.Relay", "config.process.nodes.Nodes"]

STATIC_URL = "/static/"
STATICFILES_DIRS = [BASE_DIR / "templates" / "static"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "config.assets.Storage"},
}
SILENCED_SYSTEM_CHECKS = [
    "admin.E408",
    "admin.E409",
    "admin.E410",  # the admin needs no session or login
    "security.W003",
]

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"json": {"()": "config.logs.JsonFormatter"}},
    "filters": {"failures": {"()": "config.logs.Failures"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "json"}},
    "root": {
        "handlers": ["stderr"],
        "level": SVC.log_level.upper(),  # logging accepts WARN for WARNING
    },
    "loggers": {
        # A task logs four lines at INFO; what it did is logged by the code that did it.
        "django-q": {"handlers": [], "propagate": True, "level": "WARNING"},
        # An error response is not logged, whatever its status, unless an exception caused it.
        "django.request": {"level": "ERROR", "filters": ["failures"]},
        "django.dispatch": {"level": "CRITICAL"},  # config.signals logs a failed receiver, once
        "channels_redis": {"level": "CRITICAL"},  # the relay logs an outage, once
        "psycopg": {"level": "ERROR"},  # it logs what it also raises
        "django.utils.autoreload": {"level": "WARNING"},  # line 1 of a log names the version
    },
}
