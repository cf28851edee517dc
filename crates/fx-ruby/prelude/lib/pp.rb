# pp
