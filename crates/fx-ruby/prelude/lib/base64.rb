# base64
