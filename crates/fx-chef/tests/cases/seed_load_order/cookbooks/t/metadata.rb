name 't'
version '1.0.0'
depends 'a'
