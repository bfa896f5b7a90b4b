"""Processes the user has us run: started, stopped, kept alive, outliving the daemon (section 9)."""
