"""The workbook comes back as it was: a release in the sheet that its table was read from.

The file is made anew, and only what is on a list of known and harmless things goes into it: texts, numbers
that the release shows, marks, styles, sizes, merged cells, page set-up, and charts of the sheet, whose stored
values are taken out. Everything else stays behind, with a note that names it.
"""
