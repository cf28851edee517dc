log 'the named one'
