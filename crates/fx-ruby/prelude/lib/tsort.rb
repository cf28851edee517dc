# tsort
