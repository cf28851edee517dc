log "#{node['colour']} #{node['size']} #{node.policy_name} #{node.policy_group} #{node['policy_revision']}"
log LoadedToo.name
