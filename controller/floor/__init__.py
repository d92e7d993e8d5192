"""The floor: links, meters, pay tables, tables and boxes, as validated data."""
