"""Jobs of ``tacita run``: what a job is, its kinds, and how many of them are carried out."""
