# digest
