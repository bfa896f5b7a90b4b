"""The JSON routes of the dashboard: HTTP in, one operation, HTTP out.

No rule of the product is here; `operations` says what may be done and what is refused.
"""
