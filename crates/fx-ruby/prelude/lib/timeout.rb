# timeout
