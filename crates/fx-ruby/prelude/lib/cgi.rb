class CGI
  module Util
    T_ = { "'" => "&#39;", "&" => "&amp;", '"' => "&quot;", "<" => "&lt;", ">" => "&gt;" }
    def escape(s) = s.to_s.b.gsub(/[^a-zA-Z0-9_.\-~* ]/n) { |c| "%%%02X" % c.ord }.tr(" ", "+").force_encoding("UTF-8")
    def unescape(s, e = "UTF-8") = s.b.tr("+", " ").gsub(/%\h\h/n) { |x| x[1..].hex.chr }.force_encoding(e)
    def escapeHTML(s) = s.gsub(/['&"<>]/, T_)
    def unescapeHTML(s)
      s.gsub(/&(apos|amp|quot|gt|lt|#\d+|#x\h+);/i) do |x|
        m = $1
        case m
        when "amp" then "&"
        when "quot" then '"'
        when "gt" then ">"
        when "lt" then "<"
        when "apos" then "'"
        when /\A#x(\h+)/i then [$1.hex].pack("U")
        when /\A#(\d+)/ then [$1.to_i].pack("U")
        else x
        end
      end
    end
    def escapeElement(s, *e) = s.gsub(/<\/?(?:#{e.flatten.join("|")})\b[^<>]*+>?/i) { escapeHTML($&) }
    alias h escapeHTML
    alias escape_html escapeHTML
    alias unescape_html unescapeHTML
  end
  extend Util
  include Util
end
