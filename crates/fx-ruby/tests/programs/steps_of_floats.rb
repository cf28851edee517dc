p 1.0.step(2.0, 0.1).to_a, 1.0.step(2.0, 0.1).size, (1.0...2.0).step(0.3).to_a, (1.0..2.0).step(0.3).size
p 1.1.step(1.5, 0.1).to_a, 5.0.step(1.0, -1.5).to_a, 1.step(3, 0.5).to_a, 1.0.step(Float::INFINITY, 2).first(3)
p 1.0.step(2.0, Float::INFINITY).to_a, 1.0.step(by: -1, to: -1).to_a, ((1..10) % 3), ((1..10) % 3).to_a, (1..Float::INFINITY).step(5).first(2)
p (1.0..).step(2).first(3), 1.step(3, "1").size rescue p $!.message
p (1..3).size, (1..-Float::INFINITY).size, (1.0..3.0).size, (-Float::INFINITY..0).size
