# pathname
