# time
