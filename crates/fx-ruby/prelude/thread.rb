# thread
