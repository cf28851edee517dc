require "stringio"
io = StringIO.new("\xEF\xBB\xBFabc".b)
p io.set_encoding_by_bom, io.read, io.external_encoding
kept = nil
StringIO.open(+"x") { |s| kept = s }
p kept.closed?, kept.string
p (StringIO.new(+"", "wb", binmode: true) rescue $!.message), StringIO.new(+"", "w", binmode: true).external_encoding
p StringIO.new("ab").read_nonblock(5), StringIO.new("").read_nonblock(5, exception: false), StringIO.new("ab").ungetc("c")
s = StringIO.new("line\n")
p s.getc, s.gets, s.gets, (s.readline rescue $!.message)
