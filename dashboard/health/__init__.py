"""Whether an app lives: probes on the wire, the pure state machine, when each app is asked.

`probe` asks once, `states.step` turns evidence into a state, `schedule` says when to ask again,
`runner` drives the three in one event loop. What is asked and what an answer means:
docs/design/dashboard.md#probing
"""
