# Dates and times by a format.
require "date"
require "time"
ENV["TZ"] = "UTC"
def t
  p yield
rescue => e
  puts "#{e.class}: #{e.message}"
end
[["2020-01-02", "%Y-%m-%d"], ["02/01/20", "%d/%m/%y"], ["3 Feb 2001", "%e %b %Y"], ["2001-034", "%Y-%j"], ["2001-W05-6", "%G-W%V-%u"], ["2001 04 6", "%Y %U %w"], ["2001 05 6", "%Y %W %u"], ["sat3feb2001", "%a%d%b%Y"], ["20010203", "%Y%m%d"], ["981173106", "%s"], ["x", "%Y"], ["2020-13-01", "%Y-%m-%d"], ["2020-02-30", "%Y-%m-%d"], ["2020-01-02 x", "%Y-%m-%d"], ["04/06/00", "%D"], ["06-Apr-2000", "%v"], ["Thu Apr  6 00:00:00 2000", "%c"], ["20 2001", "%C %Y"], ["2000-04-06", "%F"], ["10 PM", "%I %p"]].each do |text, form|
  t { Date.strptime(text, form).to_s }
  t { Date._strptime(text, form) }
end
now = Time.utc(2022, 5, 6)
t { Time.strptime("12:30", "%H:%M", now).to_s }
t { Time.strptime("Jan", "%b", now).to_s }
t { Time.strptime("5", "%d", now).to_s }
t { Time.strptime("2020-01-02T03:04:05+0900", "%Y-%m-%dT%H:%M:%S%z").to_s }
t { Time.strptime("2020-01-02T03:04:05.123 UTC", "%Y-%m-%dT%H:%M:%S.%L %Z").inspect }
t { Time.strptime("10/Oct/2000:13:55:36 -0700", "%d/%b/%Y:%H:%M:%S %z").to_s }
t { Time.strptime("1:02 pm", "%I:%M %p", now).to_s }
t { DateTime.strptime("2001-02-03T04:05:06+07:00", "%Y-%m-%dT%H:%M:%S%z").to_s }
t { Time.httpdate("Sun Nov  6 08:49:37 1994").to_s }
t { Time.httpdate("Sunday, 06-Nov-94 08:49:37 GMT").to_s }
t { Time.parse("Thu, 02 Jan 2020 03:04:05 GMT").to_s }
t { DateTime.new(2001, 2, 3, 4, 5, 6, "+7").to_s }
t { Time.new(2020, 13, 1) }
