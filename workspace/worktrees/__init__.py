"""Worktrees of chats: a directory and a branch for one chat alone, in the project's repository."""
