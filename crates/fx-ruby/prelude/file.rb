# file
