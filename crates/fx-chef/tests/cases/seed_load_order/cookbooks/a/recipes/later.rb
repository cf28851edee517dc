log 'the role has this second'
