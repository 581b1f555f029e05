"""SDMX-CSV, versions 1.0 and 2.0: tables in, releases in and out, and structure files with code lists."""

from __future__ import annotations
