"""The JSON routes of the dashboard (section 20): HTTP in, one operation, HTTP out.

No rule of the product lives here; what may be done and what is refused is in `operations`.
"""
