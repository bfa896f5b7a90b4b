"""What agents read: rules, and live tables of what runs on this machine.

Names, titles, paths and commands come from programs and projects. They are escaped (escape.py), so
that nothing in them can pass for a heading, a link or a rule of the guide.
"""
