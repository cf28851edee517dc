module Base64
  module_function
  def encode64(s) = [s].pack("m")
  def decode64(s) = s.unpack1("m")
  def strict_encode64(s) = [s].pack("m0")
  def strict_decode64(s) = s.unpack1("m0")
  def urlsafe_encode64(s, padding: true)
    r = strict_encode64(s).tr("+/", "-_")
    padding ? r : r.delete("=")
  end
  def urlsafe_decode64(s)
    s = s.tr("-_", "+/")
    s = s.ljust((s.size + 3) & ~3, "=") if !s.end_with?("=") && s.size % 4 != 0
    strict_decode64(s)
  end
end
