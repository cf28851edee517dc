# numeric
