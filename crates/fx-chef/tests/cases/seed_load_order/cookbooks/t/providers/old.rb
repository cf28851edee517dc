$order << 't/providers/old.rb'
action :run do
  log 'old acts'
end
