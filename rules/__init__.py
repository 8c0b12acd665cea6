"""Holds the games that come with the project: data only, read and never imported for code."""
