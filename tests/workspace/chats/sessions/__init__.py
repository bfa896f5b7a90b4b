"""Conversations of other programs, listed, read and continued."""
