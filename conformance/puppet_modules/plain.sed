# What differs by nature: colours, seconds, times, names of temporary files, process numbers.
s/\x1b\[[0-9;]*m//g
s/in [0-9.]+ seconds/in S seconds/
s/puppet-file[0-9a-z-]+/puppet-fileNAME/
s/20[0-9]{2}-[0-9]{2}-[0-9]{2}[ T][0-9:.]+( [+]0000)?/TIME/g
s/> 1[0-9]{9} [+]0000/> EPOCH +0000/g
s/(\.conf|\.[a-z]+)20[0-9]{6}-[0-9]+-[0-9a-z]+\.lock/\1NAME.lock/g
