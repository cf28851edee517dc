# A copy of a stream has a life of its own.
copy = $stdout.dup
copy.close
puts "still open"
path = "/tmp/fx_streams_#{$$}"
keep = $stdout.dup
file = File.open(path, "w+")
$stdout.flush
$stdout.reopen(file)
puts "into the file"
$stdout.flush
$stdout.reopen(keep)
keep.close
file.rewind
p file.read
file.close
File.delete(path)
puts "back"
