# Password hashes as crypt(3) makes them.
p "geheim".crypt("$6$rounds=1000$salz"), "geheim".crypt("ab"), "geheim".crypt("ab").encoding
p "a".crypt("*0"), "a".crypt("$9$x")
[["a", "a"], ["a\0", "ab"], ["a", 5]].each do |text, salt|
  text.crypt(salt)
rescue => e
  puts "#{e.class}: #{e.message}"
end
