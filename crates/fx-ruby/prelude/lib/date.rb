# date
