# observer
