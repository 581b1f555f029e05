"""Files of τ-ARGUS: metadata, data, hierarchies, recodings, decisions by hand, batches and outputs."""
