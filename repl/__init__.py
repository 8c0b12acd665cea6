"""The table: command line, prompt, board view, reports."""
