p (0.0..10.0).bsearch{|x| x>=2.5}, (0.0..).bsearch{|x| x>=1e10}, (..0.0).bsearch{|x| x >= -5}, (0.0..Float::INFINITY).bsearch{|x| x==Float::INFINITY}, (-Float::INFINITY..0.0).bsearch{|x| true}, (0..4).bsearch{|x| x>=2}, (0.0...4.0).bsearch{|x| x>=4.0}, (0..).bsearch{|x| x>=100}, (0.0..100.0).bsearch{|x| 3<=>x}, (1.0..2.0).bsearch{nil}
p (("a".."b").bsearch rescue $!.message), ((0.0..1.0).bsearch{"x"} rescue $!.message)
p (1..5).cover?(2...6), (1..).cover?(2..), (1...).cover?(1..), (0..10.0).cover?(5...11.0), (nil..nil)
p ($stdout = nil) rescue p $!.message
p ($-0 = 1) rescue p $!.message
$. = 2.5
p $., ENV.method(:key?) == ENV.method(:include?), ENV.delete("NONE_SUCH") { |k| k }
