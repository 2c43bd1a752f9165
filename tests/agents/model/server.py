"""Serves the scripted model over HTTP, and writes each request into a folder."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit
from . import chat_completions, generate_content, messages, responses

APIS = (messages, chat_completions, responses, generate_content)
MODEL = "scripted"


class ModelServer:
    """Answers on a port of loopback until it is closed."""

    def __init__(self, script, requests):
        self.script = script
        self.requests = requests
        self.errors = []
        self._count = 0
        self._lock = threading.Lock()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (Handler,), {"model": self}))
        self.url = f"http://127.0.0.1:{self._http.server_port}"
        threading.Thread(target=self._http.serve_forever, daemon=True).start()

    def close(self):
        self._http.shutdown()

    def record(self, path, body):
        with self._lock:
            self._count += 1
            name = f"{self._count:03}-{path.strip('/').replace('/', '_')[-60:]}.json"
        (self.requests / name).write_text(json.dumps(body, indent=1))


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    model: ModelServer

    def do_GET(self):
        listed = {"id": MODEL, "object": "model", "type": "model", "display_name": MODEL, "created": 1, "owned_by": "test"}
        self.send_json({"object": "list", "data": [listed], "models": [], "has_more": False})

    def do_POST(self):
        path = urlsplit(self.path).path
        body = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))) or "{}")
        self.model.record(path, body)
        api = next((api for api in APIS if api.serves(path)), None)
        if not api:
            return self.send_json({})
        try:
            body.setdefault("model", MODEL)
            reply = self.model.script.reply(api.read(body))
            if body.get("stream") or path.endswith(":streamGenerateContent"):
                self.send_events(api.stream(reply, body))
            else:
                self.send_json(api.whole(reply, body))
        except Exception as error:
            self.model.errors.append(f"{path}: {error!r}")
            self.send_json({"error": {"message": repr(error), "type": "invalid_request_error"}}, 400)

    def send_json(self, value, status=200):
        text = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def send_events(self, events):
        text = b"".join(events)
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("content-length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        pass
