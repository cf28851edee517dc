include_recipe 't'
log 'u'
