# What differs by nature: colours, seconds, times, names of temporary files, process numbers, random keys.
s/\x1b\[[0-9;]*m//g
s/in [0-9.]+ seconds/in S seconds/
s/puppet-file[0-9a-z-]+/puppet-fileNAME/
s/20[0-9]{2}-[0-9]{2}-[0-9]{2}[ T][0-9:.]+( [+]0000)?/TIME/g
s/> 1[0-9]{9} [+]0000/> EPOCH +0000/g
s/20[0-9]{6}-[0-9]+-[0-9a-z]+/NAME/g
# Lines of the journal.
s/[A-Z][a-z]{2} [ 0-9][0-9] [0-9:]{8} ([a-z0-9]+ [a-z.-]+)\[[0-9]+\]:/TIME \1[PID]:/
# Keys that a run makes.
/^-----BEGIN OPENSSH PRIVATE KEY-----$/,/^-----END/{/^[A-Za-z0-9+\/=]+$/d}
s/^(ssh-[a-z0-9]+) [A-Za-z0-9+\/=]{60,}/\1 KEY/
s/(etc\/bind\/rndc\.key) [0-9a-f]{64}/\1 DIGEST/
