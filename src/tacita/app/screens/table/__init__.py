"""The table as a spreadsheet."""
