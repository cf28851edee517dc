class { 'vim': opt_misc => ['hlsearch', 'number'], opt_bg_shading => 'dark', opt_indent => false }
