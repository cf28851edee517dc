# rbconfig
