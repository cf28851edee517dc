p SignalException.new("INT").signo, SignalException.new(:SIGTERM).message, SignalException.new(2, "x").signm, (SignalException.new("NO") rescue $!.message), (SignalException.new rescue $!.message)
begin
  Process.kill(:TERM, Process.pid)
  sleep 1
rescue SignalException => e
  p e.signo, e.message
end
got = nil
trap("USR1") { |n| got = n }
Process.kill(:USR1, $$)
sleep 0.1
p got, Interrupt.new.message, SystemExit.new.message
require "timeout"
p (Timeout.timeout(0.05) { sleep } rescue [$!.class, $!.message]), (Timeout.timeout(0.05, ArgumentError) { sleep 1 } rescue [$!.class, $!.message])
