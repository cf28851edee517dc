# struct
