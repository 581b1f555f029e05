"""Files of tau-ARGUS: metadata, tables, hierarchies, decisions by hand, batches and outputs."""
