def say(x) = (puts x; x)
Box = Struct.new(:a, :b)
box = Box.new
list = []
(say("one"); box).a, (say("two"); list)[say(0)] = (say("three"); 1), (say("four"); 2)
p box, list
((say("in"); box).a, box.b), *(say("rest"); box).b = [[5, 6], 7, 8]
p box
x, box.a, y = 1, 2, 3
p [x, box.a, y]
