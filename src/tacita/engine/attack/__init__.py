"""What attackers can deduce: requirements, the attackers' programs, and the cuts that answer them."""
