# A library that does not load.
raise ArgumentError, 'in a library'
