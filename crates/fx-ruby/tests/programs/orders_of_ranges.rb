p (1..3).min { |a, b| b <=> a }, (1..3).max { |a, b| b <=> a }, (1..4).min_by { |x| -x }, (1..4).max_by { |x| -x }, (1..4).minmax_by { |x| -x }, ("a".."c").min(2), (1..3).minmax { |a, b| b <=> a }
