"""The methods by name. Adding one is adding a file and a line in ``method.py``: its fields become options,
forms and docs.

Imports: core, rules, problem, solvers, engine.
"""

from __future__ import annotations

from tacita.methods.method import Method, Option, make_method, method_names, options_of

__all__ = ["Method", "Option", "make_method", "method_names", "options_of"]
