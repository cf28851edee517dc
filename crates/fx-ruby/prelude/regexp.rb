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
      raise TypeError, "no implicit conversion of #{pattern.nil? ? "nil" : pattern.class} into String" unless pattern.respond_to?(:to_str)
      escape(pattern.to_str)
    end
    return Regexp === parts[0] ? parts[0] : new(parts[0]) if parts.size == 1
    new(parts.join("|"))
  end
end
