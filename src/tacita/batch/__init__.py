"""Batches of tau-ARGUS carried out: tables are read, protected, audited, written; what is not done is said.

Imports: everything but cli and app and testing.
"""
