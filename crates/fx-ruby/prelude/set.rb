# set
