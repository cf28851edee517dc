name 'unused'
version '0.1.0'
