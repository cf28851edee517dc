# json
