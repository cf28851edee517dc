i = 0
s = 0
while i < 5_000_000
  s += i & 7
  i += 1
end
puts s
