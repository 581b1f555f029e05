"""Files of τ-ARGUS: metadata, data, hierarchies, recodings, decisions by hand, batches and outputs.

What reads them, each a function of a path that returns frozen values:

    metadata_file.parse_metadata        .rda   Metadata, with a Variable for each column
    microdata.read_microdata            .asc   ArgusRecords: recode(variable, recoding), tabulate(by, value)
    table_data.read_table_data          .tab   a Table, or a Problem where it has a status or a rule is given
    recodings.parse_recoding            .grc   Recoding, for recode and for read_table_data
    apriori.parse_apriori               .hst   Apriori, for apply_apriori(problem, apriori)
"""
