[/(a|b)\w+\.*?\w+/m, /a\w+\.*?\w+/, /(a)[a-z]+x*?[a-z]+/, /[a-z]+x*?[a-z]+/, /[a-z]+x*[a-z]+/, /[a-z]+x?[a-z]+/, /a+x*?a+/].each { |r| 70.times { "zz" =~ r }; p "a"[r], "aa"[r], "aaa"[r] }
