"""No order of evidence leads to a lie: hypothesis plays the world against the machine."""

from __future__ import annotations

from dataclasses import asdict

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from dashboard.health import schedule, states
from dashboard.health.evidence import (
    Changed,
    Edge,
    Evidence,
    Exited,
    Notice,
    Probed,
    Scanned,
    Silenced,
    Started,
    StopFailed,
    Stopped,
    Stopping,
    Tick,
    Woke,
)
from dashboard.health.record import Policy, Port, Reason, State
from dashboard.health.result import Kind
from tests.dashboard.health.world import App, found
from tests.promises.rings import ring

POLICIES = st.builds(
    Policy,
    probed=st.sampled_from([True, True, True, False]),
    always=st.booleans(),
    should_run=st.booleans(),
    interval=st.sampled_from([1.0, 30.0, 3600.0]),
    failures=st.integers(1, 4),
    successes=st.integers(1, 3),
)
KINDS = st.sampled_from(list(Kind))
SECONDS = st.sampled_from([0.01, 0.5, 2.0, 5.0, 31.0, 61.0, 700.0])


class World(RuleBasedStateMachine):
    """Any evidence at any time, probes that answer late or never included."""

    @initialize(policy=POLICIES, known=st.sampled_from([None, *State]))
    def born(self, policy: Policy, known: State | None) -> None:
        self.app = App(known=known, **asdict(policy))
        self.heard: State | None = known
        self.moved_at = self.app.now
        self.under_way: list[float] = []

    @rule(seconds=SECONDS)
    def time_passes(self, seconds: float) -> None:
        end = self.app.now + seconds
        for _ in range(50):
            due = states.due(self.app.record)
            if due is None or due > end:
                break
            self.app.now = max(self.app.now, due)
            self.tell(Tick())
        else:
            raise AssertionError("ticks that change nothing come for ever")
        self.app.now = end

    @rule()
    def a_probe_begins(self) -> None:
        self.under_way.append(self.app.now)

    @precondition(lambda self: self.under_way)
    @rule(kind=KINDS, there=st.booleans(), ms=st.sampled_from([1.0, 9000.0]))
    def a_probe_ends(self, kind: Kind, there: bool, ms: float) -> None:
        self.tell(Probed(found(kind, self.under_way.pop(0), ms=ms, there=there)))

    @rule(kind=KINDS)
    def a_probe_answers_at_once(self, kind: Kind) -> None:
        self.app.now += 0.01
        self.tell(Probed(found(kind, self.app.now)))

    @rule(port=st.sampled_from(list(Port)))
    def a_scan_ends(self, port: Port) -> None:
        self.app.now += 0.01
        self.tell(Scanned(port))

    @rule(
        evidence=st.one_of(
            st.builds(Started, restart=st.booleans(), by_user=st.booleans()),
            st.builds(
                Exited,
                code=st.sampled_from([None, 0, 1]),
                retry_in=st.sampled_from([None, 2.0]),
                crash_loop=st.booleans(),
                why=st.sampled_from([None, "no such directory"]),
            ),
            st.sampled_from([Stopping(), Stopped(), StopFailed(), Silenced(), Changed(), Woke()]),
            st.just(Silenced(Reason.INVALID_FILE)),
        )
    )
    def something_else_happens(self, evidence: Evidence) -> None:
        self.app.now += 0.01
        self.tell(evidence)

    @rule(policy=POLICIES)
    def the_file_changes(self, policy: Policy) -> None:
        self.app.now += 0.01
        self.app.policy = policy
        self.tell(Changed())

    def tell(self, evidence: Evidence) -> None:
        """One step, and everything that must hold between before and after."""
        before = self.app.record
        first = len(self.app.events)
        self.app.tell(evidence)
        after, events = self.app.record, self.app.events[first:]
        edges = [event for event in events if isinstance(event, Edge)]
        notices = [event for event in events if isinstance(event, Notice)]

        assert [(edge.before, edge.after) for edge in edges] == (
            [] if after.state is before.state else [(before.state, after.state)]
        )
        assert len(notices) <= 1
        assert all(notice.state is after.state for notice in notices)
        if edges:
            self.check_edge(evidence, before.state, after.state)
            told = bool(notices) or after.state is self.heard or after.flapping
            assert told, "an edge that nobody was told"
            assert not (before.state is self.heard is after.state)
            self.moved_at = self.app.now
            if isinstance(evidence, (Stopping, Stopped)):
                assert notices or after.state is self.heard
        if notices:
            self.heard = notices[0].state

    def check_edge(self, evidence: Evidence, before: State, after: State) -> None:
        policy, port = self.app.policy, self.app.record.port
        if after in {State.UP, State.DEGRADED}:
            assert isinstance(evidence, Probed)
            assert evidence.result.began >= self.moved_at
            assert policy.probed
            assert port is not Port.STRANGER
            if after is State.UP:
                assert evidence.result.ok
        if after is State.DOWN and not policy.alarm and isinstance(evidence, Probed):
            gateway = evidence.result.kind is Kind.GATEWAY
            assert gateway or port is Port.OWN or evidence.result.addr
        if isinstance(evidence, Stopped):
            assert before not in {State.UP, State.DEGRADED}, "nothing was stopped"
        if isinstance(evidence, Exited) and evidence.why:
            assert after is not State.STOPPED, "stopped by nobody"
        if after is State.STOPPED and isinstance(evidence, Probed | Scanned):
            assert not policy.alarm
            assert port is not Port.OWN

    @invariant()
    def a_silenced_or_unprobed_app_is_never_up(self) -> None:
        record = self.app.record
        if record.silenced:
            assert record.state is State.UNKNOWN
        if record.reason is Reason.NO_PROBE:
            assert record.state is State.UNKNOWN

    @invariant()
    def the_stream_knows_the_state_or_will_be_told(self) -> None:
        record = self.app.record
        started = record.moves == 0
        assert record.heard is self.heard
        if not started and record.heard is not record.state:
            assert record.owed
            assert record.flapping
            assert (states.due(record) or 0) <= self.app.now + 60

    @invariant()
    def an_app_that_matters_is_asked_again_in_time(self) -> None:
        record, policy = self.app.record, self.app.policy
        asked = schedule.next_probe(self.app.slug, record, policy)
        live = {State.UP, State.DEGRADED, State.DOWN, State.STARTING}
        if policy.probed and record.state in live and not record.silenced:
            assert asked is not None
            last = max(record.probed_at or record.born, record.ask.at if record.ask else 0)
            assert asked <= last + max(1.6 * policy.interval, 5.0)
        if record.silenced or not policy.probed:
            assert asked is None


TestWorld = World.TestCase
TestWorld.settings = settings(
    max_examples=ring(fast=60, slow=1500),
    stateful_step_count=60,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
