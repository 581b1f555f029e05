"""Protection requirements, the attackers' programs, and the cuts that follow from them."""
