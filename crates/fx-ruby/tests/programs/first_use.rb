# Methods that live in a part read on first use, called before anything else read it.
print "a", "b\n"
$stdout.print "c\n"
$stdout.putc "d"
puts
p Time.new(2024, 1, 2, 3, 4, 5, "+00:00")
