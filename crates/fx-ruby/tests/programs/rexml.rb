require "rexml/document"
def t; p yield; rescue StandardError => e; puts "#{e.class}: #{e.message.lines.first}"; end
x = <<X
<?xml version="1.0" encoding="UTF-8"?>
<!-- top -->
<server port="8005" shutdown='x &amp; y'>
  <listener class="a"/>
  <service name="cat">
    <connector port="8080">text &lt;1&gt;</connector>
    <connector port="8443"/>
    <![CDATA[raw <b>]]>
  </service>
</server>
X
d = REXML::Document.new(x)
t { d.root.name }
t { d.root.attributes["port"] }
t { d.root.attributes["shutdown"] }
t { d.root.attributes["none"] }
t { d.elements["server/service"].attributes["name"] }
t { d.elements["//connector[@port='8443']"].name }
t { d.elements["//nothing"] }
t { d.elements.to_a("//connector").map { |e| e.attributes["port"] } }
t { a = []; d.elements.each("server/service/connector") { |e| a << e.text }; a }
t { REXML::XPath.first(d, "//connector").text }
t { REXML::XPath.match(d, "//connector/@port").map(&:value) }
t { a = []; REXML::XPath.each(d, "//service/*") { |e| a << e.name }; a }
t { REXML::XPath.first(d, "//connector/text()").to_s }
t { REXML::XPath.match(d, "/server/service[connector]").size }
t { REXML::XPath.match(d, "//connector[2]").map { |e| e.attributes["port"] } }
t { REXML::XPath.match(d, "//connector[last()]").size }
t { d.root.elements.size }
t { d.root.elements[1].name }
t { d.root.get_elements("service/connector").size }
t { d.root.elements["service"].parent.name }
e = d.root.add_element("new", { "k" => "v<" })
e.text = "a & b"
e.add_attribute("z", "1")
t { e.to_s }
t { d.root.elements.delete("listener").to_s }
t { d.root.elements["listener"] }
puts d.to_s
f = REXML::Formatters::Pretty.new(2)
f.compact = true
o = +""
f.write(REXML::Document.new("<a><b>x</b><c d='1'/></a>"), o)
puts o
t { REXML::Document.new("<a><b></a>") }
t { REXML::Document.new("").root }
n = REXML::Document.new
n << REXML::XMLDecl.new
r = n.add_element("r")
r << REXML::Element.new("s")
r.elements["s"].text = "q"
t { n.to_s }
t { r.has_elements? }
t { r.elements["s"].has_text? }
t { r.attributes.size }
t { d.root.attributes.map { |k, v| [k, v] } }
t { d.root.elements["service"].texts.map(&:to_s) }
t { d.root.elements["service"].cdatas.map(&:to_s) }
t { REXML::Document.new("<a xmlns:x='u'><x:b/></a>").root.elements[1].expanded_name }
t { d.root.elements["service"].xpath }
t { d.root.class }
