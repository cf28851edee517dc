require 'logger'; class Logger; class Syslog < Logger; end; end
