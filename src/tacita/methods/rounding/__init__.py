"""Tables of multiples: which bases can protect, what is kept small, how the nearest one is found."""
