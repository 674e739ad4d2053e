"""Verdicts in, text out. Nothing here decides."""
