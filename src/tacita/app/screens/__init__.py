"""One room per screen; ``screen.build(workspace)`` fills its page."""
