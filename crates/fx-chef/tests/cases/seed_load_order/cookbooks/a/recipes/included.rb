log 'included at this point'
