"""Whether windows protect: moves of attackers within them, and the requirements that are missed."""
