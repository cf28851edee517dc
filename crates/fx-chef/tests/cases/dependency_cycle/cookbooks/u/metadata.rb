name 'u'
version '1.0.0'
depends 't'
