"""Results for people: tables in the terminal, a page of HTML, records in JSON."""

from __future__ import annotations
