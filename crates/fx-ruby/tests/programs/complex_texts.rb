["1+2i", "3.5", "2/3-1/2i", "i", "-i", "3i", "1e3+2e-1j", "2@1", "7_9+4_0i", " 1 ", "x", "1+2ix", ""].each do |t|
  p [t, t.to_c, (Complex(t) rescue $!.message), Complex(t, exception: false)]
end
p Complex(1, 2), Complex("1", "2"), Complex(nil, exception: false), (Complex(nil) rescue $!.message), (Complex(:a) rescue $!.message)
p nil.to_r, nil.rationalize(0.1), nil.to_c
