# range
