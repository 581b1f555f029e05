"""The question: a table, what is sensitive in it, who attacks; and how far an answer is from it.

Imports: core, rules, attackers.
"""
