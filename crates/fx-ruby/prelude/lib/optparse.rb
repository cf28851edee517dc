# optparse
