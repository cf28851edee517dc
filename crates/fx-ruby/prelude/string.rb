# string
