# array
