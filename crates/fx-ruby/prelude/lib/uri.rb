# uri
