# nethttp
