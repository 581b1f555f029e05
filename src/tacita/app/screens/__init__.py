"""One file per screen, each with ``build(workspace)``."""
