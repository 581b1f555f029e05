"""Files: tables, cases and releases, in and out. Every write is atomic."""

from __future__ import annotations

from tacita.io.case import read_case, read_table_file
from tacita.io.hierarchy import read_hierarchy, write_hierarchy
from tacita.io.jj import read_jj, write_jj
from tacita.io.nchs import read_nchs, write_nchs
from tacita.io.petrenko import read_thesis, write_thesis
from tacita.io.project import Project, load_project
from tacita.io.project_write import Origin, write_project
from tacita.io.release_read import read_release
from tacita.io.release_write import write_release
from tacita.io.results import Written, write_results
from tacita.io.script import write_script
from tacita.io.table_write import write_table

__all__ = [
    "Origin",
    "Project",
    "Written",
    "load_project",
    "read_case",
    "read_hierarchy",
    "read_jj",
    "read_nchs",
    "read_release",
    "read_table_file",
    "read_thesis",
    "write_hierarchy",
    "write_jj",
    "write_nchs",
    "write_project",
    "write_release",
    "write_results",
    "write_script",
    "write_table",
    "write_thesis",
]
