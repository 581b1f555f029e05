"""From a solver's floats to whole changes that hold exactly."""
