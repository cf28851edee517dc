t=Time.utc(2001,2,3); %w[%05b %-5b %^5b %#b %05p %_5b %010A %-B %010z %_10z %-z %:z %-:z %_z %-d %_d %3d %-3d %0e %10N %3N %-N %+5d %-5S %^a %#p %#Z %010Y %+Y %-y %-j %_m %::z %010F %_H].each{|f| print f," ",t.strftime(f).inspect, " ", Time.new(2001,2,3,4,5,6,"-03:30").strftime(f).inspect,"\n"}
p Time.utc(2001, 2, 3).to_s.encoding, (Time.at(1, nil) rescue $!.message), (Time.new(2001, 1, 1, 0, 0, 0, "+01:60") rescue $!.message), (Time.now + nil rescue $!.message)
zone = Object.new
def zone.utc_to_local(t) = t + 3600
def zone.local_to_utc(t) = t - 3600
def zone.name = "Here"
t = Time.at(0, in: zone)
p t.utc_offset, t.hour, t.zone.equal?(zone), t.strftime("%Z %z"), Time.new(2001, 1, 1, 0, 0, 0, zone).utc.to_s
