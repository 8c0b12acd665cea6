"""Runs rules: load → overlay → check → lower → backends → game."""
