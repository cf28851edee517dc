# forwardable
