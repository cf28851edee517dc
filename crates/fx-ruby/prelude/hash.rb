# hash
