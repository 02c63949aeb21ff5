"""The command line: what all commands share. One file a command is in `commands`."""
