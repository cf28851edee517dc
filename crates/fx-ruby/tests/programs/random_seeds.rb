p Random.new(123456789012345678901234567890).rand(1000)
p Random.new(0x9dd4e461268c8034f5c8564e155c67a6).rand(10000)
[0, 1, 5, 42, 2**32 - 1, 2**32, 2**32 + 5, 2**33, 2**64, 2**64 + 7].each { |seed| p Random.new(seed).rand(1000) }
srand(42)
p rand(1000), rand, [1, 2, 3, 4, 5].shuffle(random: Random.new(3)), [1, 2, 3].sample(random: Random.new(9))
