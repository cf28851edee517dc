class Regexp
  def self.compile(...) = new(...)
  def self.union(*patterns)
    patterns = patterns[0].to_ary if patterns.size == 1 && patterns[0].respond_to?(:to_ary)
    return /(?!)/ if patterns.empty?
    parts = patterns.map do |pattern|
      next pattern if Regexp === pattern
      next pattern.to_regexp if pattern.respond_to?(:to_regexp)
      pattern = pattern.to_s if Symbol === pattern && patterns.size == 1
      next escape(pattern) if String === pattern
      unless pattern.respond_to?(:to_str)
        raise TypeError, "no implicit conversion of #{pattern.nil? ? "nil" : pattern.class} into String"
      end
      escape(pattern.to_str)
    end
    __agree(patterns, parts)
    return Regexp === parts[0] ? parts[0] : new(parts[0]) if parts.size == 1
    new(parts.join("|"))
  end
end
class << Regexp
  # Patterns of one union must fit one encoding.
  def __agree(patterns, parts)
    fixed = nil
    loose = false
    parts.each do |part|
      enc = part.encoding
      if !enc.ascii_compatible?
        raise ArgumentError, "ASCII incompatible encoding: #{enc}" if loose
      elsif Regexp === part ? !part.fixed_encoding? : part.ascii_only?
        loose = true
        raise ArgumentError, "ASCII incompatible encoding: #{fixed}" if fixed && !fixed.ascii_compatible?
        next
      end
      raise ArgumentError, "incompatible encodings: #{fixed} and #{enc}" if fixed && fixed != enc
      fixed = enc
    end
  end
  private :__agree
end
class MatchData
  def match(n) = self[__one(n)]
  def match_length(n) = self[__one(n)]&.length
  def __one(n)
    return n if Symbol === n || String === n
    i = Array.__to_int(n)
    raise IndexError, "index #{n} out of matches" if i < 0 || i >= size
    i
  end
  private :__one
  def values_at(*keys)
    all = to_a
    keys.flat_map do |k|
      case k
      when Range then all.values_at(k)
      when Symbol, String then [self[k]]
      else [all[Array.__to_int(k)]]
      end
    end
  end
  def deconstruct_keys(keys)
    all = named_captures.transform_keys(&:to_sym)
    return all if keys.nil?
    raise TypeError, "wrong argument type #{keys.class} (expected Array or nil)" unless Array === keys
    r = {}
    return r if keys.size > all.size
    keys.each do |k|
      raise TypeError, "wrong argument type #{k.class} (expected Symbol)" unless Symbol === k
      break unless all.key?(k)
      r[k] = all[k]
    end
    r
  end
end
