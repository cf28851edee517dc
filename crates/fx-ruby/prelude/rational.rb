# rational
