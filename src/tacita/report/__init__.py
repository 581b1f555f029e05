"""Results for people: tables in the terminal, a page of HTML, records in JSON.

Imports: core, problem, methods, auditing.
"""

from __future__ import annotations
