"""recorder.py PORT UPSTREAM FILE: passes requests on and notes each as a line of JSON."""
import http.client
import http.server
import json
import sys
import threading

port, upstream, path = int(sys.argv[1]), sys.argv[2], sys.argv[3]
lock = threading.Lock()


class Passing(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def handle_any(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        left_out = ("host", "connection", "accept-encoding")
        sent = {k: v for k, v in self.headers.items() if k.lower() not in left_out}
        sent["Host"] = self.headers["Host"]
        server = http.client.HTTPConnection(upstream)
        server.request(self.command, self.path, body or None, sent)
        answer = server.getresponse()
        content = answer.read()
        row = {"method": self.command, "path": self.path, "status": answer.status,
               "headers": {k.lower(): v for k, v in self.headers.items()},
               "body": body.decode("latin-1")}
        with lock, open(path, "a", encoding="utf-8") as out:
            out.write(json.dumps(row) + "\n")
        self.send_response(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in ("content-length", "transfer-encoding", "connection", "date", "server"):
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = handle_any

    def log_message(self, *_):
        pass


http.server.ThreadingHTTPServer(("127.0.0.1", port), Passing).serve_forever()
