"""What is written: releases with their audits and certificates; public and internal files apart.

Imports: core, problem, storage, formats, auditing, report, verify.
"""
