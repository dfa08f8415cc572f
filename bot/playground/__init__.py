"""The playground: the real bot, a fake Slack, an in-memory cluster and a local repository."""
