# cgi
