include_recipe 'u'
log 't'
