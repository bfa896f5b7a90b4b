"""Which apps there are: the files and the listeners of one moment combined.

Pure: no disk, no clock, no loop. `census` says which apps exist, whose listener is whose, and what
health gets; `records` makes the records of the API; `claim` makes the file of a listener.
"""
