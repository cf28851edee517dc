require "erb"
source = <<~T
  # <%= title %>
  <%- items.each do |item| -%>
  <% if item[:on] -%>
  server <%= item[:name] %> port=<%= item[:port] %> <%== "raw" %>
  <%   item[:opts].each do |k, v| -%>
    <%= k %>: <%= v.inspect %>
  <%   end -%>
  <% end -%>
  <%- end -%>
  end
T
source = source.gsub("<%==", "<%=")
title = "servers"
items = Array.new(200) { |i| { name: "h#{i}", port: i, on: i % 3 != 0, opts: { a: i, "b" => "x#{i}" } } }
size = 0
50.times { size += ERB.new(source, trim_mode: "-").result(binding).size }
500.times { size += ERB.new(source, trim_mode: "-").src.size }
ready = ERB.new(source, trim_mode: "-")
100.times { size += ready.result(binding).size }
puts size > 100_000
