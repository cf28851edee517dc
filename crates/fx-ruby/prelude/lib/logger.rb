# logger
