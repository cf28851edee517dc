# misc
