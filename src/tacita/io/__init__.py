"""Files: tables and cases in, releases in and out. Every write is atomic."""

from __future__ import annotations

from tacita.io.jj import read_jj, write_jj
from tacita.io.release_read import read_release
from tacita.io.release_write import write_release

__all__ = ["read_jj", "read_release", "write_jj", "write_release"]
