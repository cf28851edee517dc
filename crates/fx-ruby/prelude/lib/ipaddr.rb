# ipaddr
