# singleton
