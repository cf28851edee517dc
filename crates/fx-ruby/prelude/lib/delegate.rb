# delegate
