# bigdecimal
