name 'web'
version '1.0.0'
description 'A small web server: its user, its page, its site, and a reload when the site changed'
