#!/usr/bin/ruby
# Lays out the repository that kitchen would hand to the client: the cookbook, its test cookbooks, whatever these depend
# on, data bags, roles and environments, the attributes and the client's settings.
#
#   repo.rb BOOKS SUITE-LINE DIRECTORY
require 'json'
require 'fileutils'

books, line, into = ARGV
suite = JSON.parse(line)
own = File.join(books, suite['cookbook'])
FileUtils.mkdir_p("#{into}/cookbooks")

def name_of(book)
  File.read("#{book}/metadata.rb", encoding: 'UTF-8')[/^\s*name\s*\(?\s*['"]([^'"]+)/, 1]
end

def depends(book)
  text = File.read("#{book}/metadata.rb", encoding: 'UTF-8')
  text.scan(/^\s*depends\s*\(?\s*['"]([^'"]+)/).flatten
end

# Cookbooks that lie beside the tests win over others of the same name.
local = Dir["#{own}/{test,spec}/{cookbooks,fixtures/cookbooks,integration/cookbooks}/*/metadata.rb"].to_h { |file| [name_of(File.dirname(file)), File.dirname(file)] }
local = { name_of(own) => own }.merge(local)
all = Dir["#{books}/*/metadata.rb"].to_h { |file| [File.basename(File.dirname(file)), File.dirname(file)] }
todo = local.keys.dup
done = {}
while (name = todo.shift)
  next if done[name]
  from = local[name] || all[name]
  # A cookbook that cannot be had is an empty one: most are named for other systems only.
  done[name] = from || :empty
  todo.concat(depends(from)) if from
end
done.each do |book, from|
  target = "#{into}/cookbooks/#{book}"
  if from == :empty
    FileUtils.mkdir_p("#{target}/recipes")
    File.write("#{target}/metadata.rb", "name '#{book}'\nversion '999.0.0'\n")
    File.write("#{target}/recipes/default.rb", '')
  else
    FileUtils.cp_r("#{File.realpath(from)}/.", target)
    # The versions at hand are the newest, whatever others ask for.
    metadata = File.read("#{target}/metadata.rb", encoding: 'UTF-8')
    File.write("#{target}/metadata.rb", metadata.gsub(/^(\s*depends\s*\(?\s*['"][^'"]+['"])\s*,[^)\n]*/, '\1'))
    FileUtils.rm_rf(["#{target}/.git", "#{target}/spec", "#{target}/test", "#{target}/.github"])
  end
end
%w[data_bags roles environments].each do |kind|
  from = suite['paths'][kind]
  from ? FileUtils.cp_r(File.join(own, from), "#{into}/#{kind}") : FileUtils.mkdir_p("#{into}/#{kind}")
end
FileUtils.mkdir_p("#{into}/nodes")
secret = suite['paths']['secret']
FileUtils.cp(File.join(own, secret), "#{into}/secret") if secret
File.write("#{into}/dna.json", JSON.generate(suite['attributes'].merge('run_list' => suite['run_list'])))
File.write("#{into}/client.rb", <<~END)
  node_name 'kitchen'
  chef_repo_path '/opt/kitchen'
  cookbook_path ['/opt/kitchen/cookbooks']
  file_cache_path '/opt/kitchen/cache'
  cache_path '/opt/kitchen/cache'
  file_backup_path '/opt/kitchen/backup'
  chef_license 'accept-no-persist'
  skip_gem_metadata_installation true
  #{"encrypted_data_bag_secret '/opt/kitchen/secret'" if secret}
END
