#!/usr/bin/env python3
"""Serves a folder on a free port of this machine, and prints the port. A file beside which FILE.cut exists breaks off in the middle."""

import functools
import http.server
import pathlib


class Mirror(http.server.SimpleHTTPRequestHandler):
    def do_GET(self):
        file = pathlib.Path(self.translate_path(self.path))
        if not file.with_name(file.name + ".cut").exists():
            return super().do_GET()
        body = file.read_bytes()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[: len(body) // 2])
        self.close_connection = True

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Mirror, directory="."))
print(server.server_address[1], flush=True)
server.serve_forever()
