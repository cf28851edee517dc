size = 160
inside = 0
size.times do |row|
  ci = 2.0 * row / size - 1.0
  size.times do |column|
    cr = 2.0 * column / size - 1.5
    zr = zi = 0.0
    n = 0
    while n < 100
      rr = zr * zr
      ii = zi * zi
      break if rr + ii > 4.0
      zi = 2.0 * zr * zi + ci
      zr = rr - ii + cr
      n += 1
    end
    inside += 1 if n == 100
  end
end
puts inside
