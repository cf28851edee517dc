datacat { '/tmp/case/list': template_body => "<% @data.keys.sort.each do |k| %><%= k %>=<%= Array(@data[k]).join(',') %>\n<% end %>", mode => '0640' }
datacat_fragment { 'a': target => '/tmp/case/list', data => { 'b' => ['2'], 'a' => '1' } }
datacat_fragment { 'c': target => '/tmp/case/list', data => { 'b' => ['3'] } }
