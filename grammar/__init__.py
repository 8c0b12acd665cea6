"""Reads the rules language: grammar, parser, syntax tree with source spans, formatter, diagnostics."""
