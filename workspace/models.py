"""Index tables of files, and the ledgers that files do not hold (queue, runs, arming, audit).

Index rows (Project, Chat) are rebuilt from files at any time and never decide anything. Ledger
rows are the truth of what they record; losing them loses history, never a project, chat or trigger.

`home` tells the projects directory that a row is about (config/storage/homes.py).
"""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from config.storage import homes


def _home() -> models.CharField[str, str]:
    return models.CharField(max_length=homes.LENGTH, blank=True, default=homes.home)


class Project(models.Model):
    """One `project.yaml` as last read."""

    slug = models.CharField(max_length=128, primary_key=True)
    path = models.TextField()
    stat = models.CharField(max_length=80)  # "mtime_ns:size:inode": whether the row still holds
    etag = models.CharField(max_length=64)
    data = models.JSONField(default=dict)  # last good value of the whole file
    error = models.TextField(blank=True)
    error_line = models.IntegerField(null=True)
    read_at = models.DateTimeField(auto_now=True)
    home = _home()

    class Meta:
        ordering = ("slug",)

    def __str__(self) -> str:
        return self.slug


class Chat(models.Model):
    """One chat: its record `.chats/<id>.yaml` and what its transcript says."""

    id = models.CharField(max_length=36, primary_key=True)
    project = models.CharField(max_length=128, db_index=True)
    record_stat = models.CharField(max_length=80)
    transcript_stat = models.CharField(max_length=80)
    record = models.JSONField(default=dict)
    error = models.TextField(blank=True)
    name = models.TextField(blank=True)  # the display name
    title = models.TextField(blank=True)  # the automatic one, of its first prompt
    preview = models.TextField(blank=True)
    archived = models.BooleanField(default=False)
    origin = models.CharField(max_length=16)
    trigger = models.CharField(max_length=64, blank=True)
    client = models.TextField(blank=True)
    created = models.DateTimeField()
    updated = models.DateTimeField()  # time of the last message line
    messages = models.IntegerField(default=0)
    entries = models.IntegerField(default=0)  # lines of read_chat: notices out, failed turns in
    offset = models.BigIntegerField(default=0)  # end of the last whole line that was indexed
    damaged = models.IntegerField(default=0)
    arrived = models.BigIntegerField(default=0)  # end of the last line a reader would want to see
    unread = models.BooleanField(default=False)  # and whether that is behind what was read
    last_turn = models.JSONField(null=True)  # {status, reason, finishedAt, model}
    usage = models.JSONField(null=True)
    cost = models.FloatField(null=True)  # USD, of the turns that told it
    context = models.JSONField(null=True)  # {used, limit, engine} of the last turn that told
    hosts = models.JSONField(null=True)  # [{host, port, refused}] of all turns
    instructions = models.JSONField(null=True)  # what the last turn with a model was told

    class Meta:
        ordering = ("project", "-updated")
        indexes = (models.Index(fields=["project", "archived", "-updated"]),)

    def __str__(self) -> str:
        return self.id


class Passage(models.Model):
    """One message as the search knows it: folded text of a place in a transcript.

    The number grows with the time of the message. A full-text index follows the table by triggers
    (migration 0003), the table follows its chat.
    """

    id = models.BigIntegerField(primary_key=True)
    chat = models.ForeignKey(Chat, on_delete=models.CASCADE, related_name="+")
    offset = models.BigIntegerField()  # just after the message's line
    text = models.TextField()

    class Meta:
        ordering = ("-id",)

    def __str__(self) -> str:
        return f"{self.chat_id}:{self.offset}"


class Searched(models.Model):
    """How far the search has read the transcript of a chat, and which file that was."""

    chat = models.OneToOneField(Chat, on_delete=models.CASCADE, primary_key=True, related_name="+")
    inode = models.BigIntegerField()
    upto = models.BigIntegerField()

    def __str__(self) -> str:
        return f"{self.chat_id}:{self.upto}"


class Run(models.Model):
    """One truthful record per firing. Unique per trigger and nominal time."""

    id = models.CharField(max_length=32, primary_key=True)  # run_<ulid>
    project = models.CharField(max_length=128)
    trigger = models.CharField(max_length=64, blank=True)
    trigger_type = models.CharField(max_length=16)
    kind = models.CharField(max_length=16)  # trigger, legacy, curation
    cause = models.CharField(max_length=16)  # cron, interval, event, catch-up, manual, api
    actor = models.JSONField(default=dict)
    client = models.TextField(blank=True)
    # All it descends from: their scopes bound it. An older release writes rows without it.
    clients = models.JSONField(default=list, db_default=[])
    spawn_cap = models.IntegerField(null=True)  # the most that its spawn limit may be
    event = models.JSONField(null=True)
    chain = models.JSONField(default=list)  # trigger keys this firing descends from
    scheduled_for = models.DateTimeField(null=True)
    queued_at = models.DateTimeField(db_index=True)
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    lease_until = models.DateTimeField(null=True)
    status = models.CharField(max_length=16)
    reason = models.TextField(blank=True)
    session_id = models.CharField(max_length=36, blank=True, db_index=True)
    agent_name = models.TextField(blank=True)
    engine = models.CharField(max_length=32, blank=True)
    model = models.TextField(blank=True)
    turns = models.IntegerField(null=True)
    tools = models.JSONField(default=list)
    usage = models.JSONField(null=True)
    cost_usd = models.FloatField(null=True)
    summary = models.TextField(blank=True)
    missed = models.IntegerField(null=True)
    skips = models.IntegerField(null=True)
    last_scheduled_for = models.DateTimeField(null=True)
    home = _home()

    class Meta:
        ordering = ("-id",)
        indexes = (
            models.Index(fields=["project", "id"]),
            models.Index(fields=["project", "trigger", "id"]),
            models.Index(fields=["project", "status", "id"]),
            models.Index(fields=["status", "id"]),
            models.Index(fields=["trigger", "id"]),
            models.Index(fields=["cause", "id"]),
            models.Index(fields=["client", "id"]),
        )
        constraints = (
            models.UniqueConstraint(
                fields=["project", "trigger", "scheduled_for"],
                condition=Q(scheduled_for__isnull=False),
                name="one_run_per_nominal_time",
            ),
        )

    def __str__(self) -> str:
        return self.id


class Turn(models.Model):
    """One message of a chat's queue, and the turn it becomes."""

    id = models.CharField(max_length=32, primary_key=True)  # msg_<ulid>: order of the queue
    project = models.CharField(max_length=128, db_index=True)
    chat = models.CharField(max_length=36)
    state = models.CharField(max_length=16)
    prompt = models.TextField()  # as written
    message = models.TextField()  # with the event or fork line in front
    model = models.TextField(blank=True)
    sender = models.JSONField()
    # Of who sent it: the same message again is this one. An older release writes rows without it.
    key = models.CharField(max_length=255, blank=True, default="", db_default="")
    event = models.JSONField(null=True)
    client = models.TextField(blank=True)
    # All it descends from: their scopes bound it. An older release writes rows without it.
    clients = models.JSONField(default=list, db_default=[])
    chain = models.JSONField(default=list, db_default=[])  # trigger keys it descends from
    run = models.ForeignKey(Run, null=True, on_delete=models.SET_NULL, related_name="turn_rows")
    tools = models.JSONField(null=True)  # null = all, [] = none, list = exactly those
    mode = models.CharField(max_length=32)
    # As its trigger says; "" = the project's, also of a row that an older version writes.
    network = models.CharField(max_length=8, blank=True, default="", db_default="")
    max_turns = models.IntegerField()
    spawn_limit = models.IntegerField(default=0)  # the limit of this turn
    created = models.DateTimeField()
    delivered = models.DateTimeField(null=True)  # last time its id was put into the cluster
    started = models.DateTimeField(null=True)
    finished = models.DateTimeField(null=True)
    reason = models.TextField(blank=True)
    claim = models.CharField(max_length=32, blank=True)
    lease_until = models.DateTimeField(null=True)
    stop = models.CharField(max_length=16, blank=True)  # "", user, shutdown
    answers = models.JSONField(default=list)  # permission answers not yet delivered
    asks = models.JSONField(default=list, db_default=[])  # open questions, questions.Question
    waits = models.BooleanField(default=False, db_default=False)  # nobody attends it: asks a day
    token_hash = models.CharField(max_length=64, blank=True, db_index=True)
    home = _home()
    unclosed = models.BooleanField(default=False)  # ended where its transcript is out of reach
    # Of one that waits for its provider: when it is tried again, and {tries, of, since, reason}.
    retry_at = models.DateTimeField(null=True)
    retry = models.JSONField(null=True)

    class Meta:
        ordering = ("id",)
        indexes = (
            models.Index(fields=["chat", "id"]),
            models.Index(fields=["chat", "state", "id"]),
            models.Index(fields=["project", "state"]),
            models.Index(fields=["state", "id"]),
            models.Index(fields=["id"], condition=Q(unclosed=True), name="unclosed_turns"),
            models.Index(fields=["chat", "key"], condition=~Q(key=""), name="turns_with_a_key"),
            models.Index(
                fields=["retry_at"], condition=Q(retry_at__isnull=False), name="waiting_turns"
            ),
        )
        constraints = (
            models.UniqueConstraint(
                fields=["chat"], condition=Q(state="running"), name="one_running_turn_per_chat"
            ),
        )

    def __str__(self) -> str:
        return self.id


class TriggerState(models.Model):
    """What arming a trigger decided: its grid and its next nominal time."""

    project = models.CharField(max_length=128)
    name = models.CharField(max_length=64)
    legacy = models.BooleanField(default=False)
    type = models.CharField(max_length=16)
    enabled = models.BooleanField(default=False)
    when = models.CharField(max_length=200, blank=True)  # "cron 0 9 * * *" or "interval 30m"
    armed_at = models.DateTimeField(null=True)
    next_at = models.DateTimeField(null=True, db_index=True)
    catch_up = models.CharField(max_length=8, default="once")
    last_error = models.TextField(blank=True)
    owned_chat = models.CharField(max_length=36, blank=True)
    agent_name = models.TextField(blank=True)
    home = _home()

    class Meta:
        ordering = ("project", "name")
        constraints = (
            models.UniqueConstraint(fields=["project", "name"], name="one_state_per_trigger"),
        )

    def __str__(self) -> str:
        return f"{self.project}/{self.name}"


class InvalidEntry(models.Model):
    """A hand-written trigger that cannot be used, for inspection."""

    project = models.CharField(max_length=128)
    name = models.CharField(max_length=200)
    error = models.TextField()
    line = models.IntegerField()

    class Meta:
        verbose_name_plural = "invalid entries"
        ordering = ("project", "line")

    def __str__(self) -> str:
        return f"{self.project}/{self.name}"


class AuditEntry(models.Model):
    """One call on /mcp, one tool of the service that a turn called, or the refusals of one peer in
    one minute."""

    time = models.DateTimeField(db_index=True)
    client = models.TextField(blank=True)
    turn = models.CharField(max_length=32, blank=True, default="", db_default="")  # that called
    operation = models.TextField(blank=True)
    project = models.CharField(max_length=128, blank=True)
    session_id = models.CharField(max_length=36, blank=True)
    run = models.CharField(max_length=32, blank=True)
    outcome = models.CharField(max_length=24)
    ms = models.IntegerField(default=0)
    peer = models.CharField(max_length=64)
    request_id = models.CharField(max_length=40)
    count = models.IntegerField(default=1)
    home = _home()

    class Meta:
        verbose_name_plural = "audit entries"
        ordering = ("-id",)
        indexes = (
            models.Index(fields=["client", "id"]),
            models.Index(fields=["client", "time", "outcome"]),  # what a client did in a day
            models.Index(fields=["operation", "id"]),
            models.Index(fields=["project", "id"]),
            models.Index(fields=["outcome", "id"]),
        )

    def __str__(self) -> str:
        return f"{self.operation} {self.outcome}"


class ClientUse(models.Model):
    """When a management client was last seen, and from where."""

    client = models.TextField(primary_key=True)
    last_used = models.DateTimeField()
    last_peer = models.CharField(max_length=64)

    def __str__(self) -> str:
        return self.client


from workspace.notify import tables  # noqa: E402, F401 - the tables of notifications are found here
