"""The web app: ``tacita app`` serves it on this machine, to this machine.

All logic is in the rooms below; the app shows it and calls it.

Imports: everything but cli and testing.
"""
