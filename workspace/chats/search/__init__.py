"""Full-text search over the chats of all projects: an index of transcripts, never the truth."""
