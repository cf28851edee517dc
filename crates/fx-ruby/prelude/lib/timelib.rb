# timelib
