"""The tables of a workbook: what stands on a sheet, one below or beside the other, and the lines around them."""
