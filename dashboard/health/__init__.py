"""The health of apps: the probes, the pure state machine, and when each app is probed.

`probe` probes once, `states.step` turns evidence into a state, `schedule` says when to probe
again, and `runner` drives the three in one event loop. What a probe asks and what an answer means:
docs/design/dashboard.md#probing
"""
