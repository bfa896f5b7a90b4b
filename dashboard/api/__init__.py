"""The JSON routes of the dashboard: HTTP in, one operation, HTTP out.

No rule of the product lives here; what may be done and what is refused is in `operations`.
"""
