# What differs by nature: colours and times.
s/\x1b\[[0-9;]*m//g
s/(Mon|Tue|Wed|Thu|Fri|Sat|Sun) [A-Z][a-z]{2} +[0-9]+ [0-9:]{8} 20[0-9]{2}/TIME/g
s/^(left file .* root\/case\/cached_module) [0-9a-f]{64}/\1/
