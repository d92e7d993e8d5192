"""HTTP: the contract with tables, signage and operators, and the pages that people see."""
