default['web']['root'] = '/srv/www/example'
default['web']['names'] = %w(example.org www.example.org)
