# erb
