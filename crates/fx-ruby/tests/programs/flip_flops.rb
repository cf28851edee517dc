p (1..10).select { |i| true if (i == 4)..(i == 7) }
p (1..10).select { |i| true if (i == 4)...(i == 4) }
show = proc { |i| i if (i == 2)..(i == 5) }
p [1, 2, 3, 5, 6].map(&show)
def within(list) = list.select { |i| true if (i == 4)..(i == 9) }
p within([1, 4, 5]), within([5, 6])
a, b, c, d = 1, 2, 3, 4
p((1..12).select { |i| true if ((i == 4)..(i == 5)) || ((i == 7)..(i == 8)) })
