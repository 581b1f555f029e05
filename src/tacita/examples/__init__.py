"""Small tables from the literature, and random ones of well-known sizes, each with its question.

Imports: core, rules, problem, generate.
"""

from __future__ import annotations

from tacita.examples.catalogue import EXAMPLES, Example, example, example_names

__all__ = ["EXAMPLES", "Example", "example", "example_names"]
