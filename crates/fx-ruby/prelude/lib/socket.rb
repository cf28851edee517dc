# socket
