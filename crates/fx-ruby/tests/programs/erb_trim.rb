require 'erb'
p ERB.new("<%= 1 + 1 %> <%- if true -%>y<%- end -%>\nz <%- 1 -%>\n  <%- 2 -%>x\n<%= 3 -%>  <%- 4 -%> a\n<%= 5 %>\n <%- 6 %>", trim_mode: "-").result(binding)
