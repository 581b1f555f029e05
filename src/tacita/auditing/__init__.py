"""The attacker's problem, its verdicts and their proofs. Nothing here knows a method."""
