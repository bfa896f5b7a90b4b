"""Index tables of files, and ledgers, which have no files (queue, runs, arming, audit).

Index rows (Project, Chat) can be rebuilt from files at any time and never decide anything. Ledger
rows are the truth of what they record; losing them loses history, never a project, chat or trigger.

`home` is the projects directory that a row belongs to (config/storage/homes.py).
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
    stat = models.CharField(max_length=80)  # "mtime_ns:size:inode" of the file as read
    etag = models.CharField(max_length=64)
    data = models.JSONField(default=dict)  # last valid content of the whole file
    error = models.TextField(blank=True)
    error_line = models.IntegerField(null=True)
    read_at = models.DateTimeField(auto_now=True)
    home = _home()

    class Meta:
        ordering = ("slug",)

    def __str__(self) -> str:
        return self.slug


class Chat(models.Model):
    """One chat: its record `.chats/<id>.yaml`, and facts from its transcript."""

    id = models.CharField(max_length=36, primary_key=True)
    project = models.CharField(max_length=128, db_index=True)
    record_stat = models.CharField(max_length=80)
    transcript_stat = models.CharField(max_length=80)
    record = models.JSONField(default=dict)
    error = models.TextField(blank=True)
    name = models.TextField(blank=True)  # the display name
    title = models.TextField(blank=True)  # the automatic name, from its first prompt
    preview = models.TextField(blank=True)
    archived = models.BooleanField(default=False)
    origin = models.CharField(max_length=16)
    trigger = models.CharField(max_length=64, blank=True)
    client = models.TextField(blank=True)
    created = models.DateTimeField()
    updated = models.DateTimeField()  # time of the last message line
    messages = models.IntegerField(default=0)
    entries = models.IntegerField(default=0)  # of read_chat: without notices, with failed turns
    offset = models.BigIntegerField(default=0)  # end of the last complete line that was indexed
    damaged = models.IntegerField(default=0)
    arrived = models.BigIntegerField(default=0)  # end of the last line worth reading
    unread = models.BooleanField(default=False)  # whether `arrived` is after what was read
    last_turn = models.JSONField(null=True)  # {status, reason, finishedAt, model}
    usage = models.JSONField(null=True)
    cost = models.FloatField(null=True)  # USD, of the turns that reported it
    context = models.JSONField(null=True)  # {used, limit, engine} of the last turn that reported it
    hosts = models.JSONField(null=True)  # [{host, port, refused}] of all turns
    instructions = models.JSONField(null=True)  # those given to the last turn with a model

    class Meta:
        ordering = ("project", "-updated")
        indexes = (models.Index(fields=["project", "archived", "-updated"]),)

    def __str__(self) -> str:
        return self.id


class Passage(models.Model):
    """One message as the search knows it: folded text of a place in a transcript.

    Ids grow with the time of the message. Database triggers keep a full-text index up to date with
    the table (migration 0003); rows are deleted with their chat.
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
    """How far the transcript of a chat is indexed for the search, and which file that was."""

    chat = models.OneToOneField(Chat, on_delete=models.CASCADE, primary_key=True, related_name="+")
    inode = models.BigIntegerField()
    upto = models.BigIntegerField()

    def __str__(self) -> str:
        return f"{self.chat_id}:{self.upto}"


class Run(models.Model):
    """The record of one firing. Unique per trigger and nominal time."""

    id = models.CharField(max_length=32, primary_key=True)  # run_<ulid>
    project = models.CharField(max_length=128)
    trigger = models.CharField(max_length=64, blank=True)
    trigger_type = models.CharField(max_length=16)
    kind = models.CharField(max_length=16)  # trigger, legacy, curation
    cause = models.CharField(max_length=16)  # cron, interval, event, catch-up, manual, api
    actor = models.JSONField(default=dict)
    client = models.TextField(blank=True)
    # All clients it descends from: their scopes limit it. Older releases write rows without it.
    clients = models.JSONField(default=list, db_default=[])
    spawn_cap = models.IntegerField(null=True)  # upper bound of its spawn limit
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
    message = models.TextField()  # the prompt, after a line about its event or fork
    model = models.TextField(blank=True)
    sender = models.JSONField()
    # The sender's key: the same message under it is this one. Older releases write rows without it.
    key = models.CharField(max_length=255, blank=True, default="", db_default="")
    event = models.JSONField(null=True)
    client = models.TextField(blank=True)
    # All clients it descends from: their scopes limit it. Older releases write rows without it.
    clients = models.JSONField(default=list, db_default=[])
    chain = models.JSONField(default=list, db_default=[])  # trigger keys it descends from
    run = models.ForeignKey(Run, null=True, on_delete=models.SET_NULL, related_name="turn_rows")
    tools = models.JSONField(null=True)  # null = all, [] = none, else exactly those
    mode = models.CharField(max_length=32)
    # Its trigger's; "" = the project's, as in rows that older releases write.
    network = models.CharField(max_length=8, blank=True, default="", db_default="")
    max_turns = models.IntegerField()
    spawn_limit = models.IntegerField(default=0)  # spawn limit of this turn
    created = models.DateTimeField()
    delivered = models.DateTimeField(null=True)  # when its id was last put into the task queue
    started = models.DateTimeField(null=True)
    finished = models.DateTimeField(null=True)
    reason = models.TextField(blank=True)
    claim = models.CharField(max_length=32, blank=True)
    lease_until = models.DateTimeField(null=True)
    stop = models.CharField(max_length=16, blank=True)  # "", user, shutdown
    answers = models.JSONField(default=list)  # permission answers not yet delivered
    asks = models.JSONField(default=list, db_default=[])  # open questions, questions.Question
    waits = models.BooleanField(default=False, db_default=False)  # unattended, its asks wait a day
    token_hash = models.CharField(max_length=64, blank=True, db_index=True)
    home = _home()
    unclosed = models.BooleanField(default=False)  # ended, but its transcript lacks the end
    # While it waits for its provider: when it is tried again, and {tries, of, since, reason}.
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
                fields=["project", "chat"],
                condition=Q(state="running"),
                name="one_running_turn_of_a_chat",
            ),
        )

    def __str__(self) -> str:
        return self.id

    @classmethod
    def of(cls, project: str, chat: str) -> models.QuerySet[Turn]:
        """The rows of one chat. Its id alone does not name it: a copied project has the same."""
        return cls.objects.filter(project=project, chat=chat)


class TriggerState(models.Model):
    """The result of arming a trigger: its grid and its next nominal time."""

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
    """One call on /mcp, one call of the service's tools by a turn, or the refusals of one peer in
    one minute."""

    time = models.DateTimeField(db_index=True)
    client = models.TextField(blank=True)
    turn = models.CharField(max_length=32, blank=True, default="", db_default="")  # the caller
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
    """When a management client was last seen, and at which address."""

    client = models.TextField(primary_key=True)
    last_used = models.DateTimeField()
    last_peer = models.CharField(max_length=64)

    def __str__(self) -> str:
        return self.client


from workspace.notify import tables  # noqa: E402, F401 - the tables of notifications are found here
