"""A Slack for the bot to talk to on loopback: same wires, same limits, same error codes."""
