"""Files of τ-ARGUS: metadata, microdata and tables without a header, code lists, recodings, a-priori files,
batches, and the tables it writes.
"""
