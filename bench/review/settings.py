"""The service's own settings and one more background part, which drops caches for the
benchmark."""

from config.settings import *  # noqa: F403
from config.settings import SVC_BACKGROUND as PARTS

SVC_BACKGROUND = [*PARTS, "bench.review.forgetting.Forgetter"]
