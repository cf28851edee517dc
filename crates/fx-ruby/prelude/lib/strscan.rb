# strscan
