# securerandom
