"""What there is: the files and the listeners of one moment put together.

Pure: no disk, no clock, no loop. `census` says which apps exist, whose listener is whose, and what
health is to be told; `records` says it on the wire; `claim` is what a listener's file would say.
"""
