"""Downloads by the hub's own package, from a server on this machine that answers as the hub does."""

import hashlib
import json
import os
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

COMMIT = "0123456789abcdef0123456789abcdef01234567"
FETCH = """
import sys
from openclaw_memory.bank.embeddings.local import LocalEmbedder
from openclaw_memory.bank.embeddings.protocol import EmbeddingFault
embedder = LocalEmbedder(sys.argv[1], sys.argv[2], download=sys.argv[3] == "download")
for _ in range(2):
    try:
        print(embedder.fingerprint.split(":")[1], len(embedder.embed_query("cat")))
    except EmbeddingFault as fault:
        print(fault.kind, fault)
"""


@pytest.fixture
def hub(bert_path):
    """A server with the repository org/tiny-GGUF; ``asked``: the requests; ``refuse``: (status, code of the error)."""
    data = bert_path.read_bytes()

    class Hub(BaseHTTPRequestHandler):
        def log_message(self, *_):
            pass

        def do_HEAD(self):
            self.answer(b"")

        def do_GET(self):
            self.answer(data)

        def answer(self, body):
            server.asked.append(f"{self.command} {self.path}")
            status, code = server.refuse
            if self.path.startswith("/api/models/org/tiny-GGUF"):
                body = json.dumps([{"type": "file", "path": f, "size": 9, "oid": "0" * 40} for f in FILES]).encode()
                if "/tree/" not in self.path:
                    body = json.dumps({"id": "org/tiny-GGUF", "siblings": [{"rfilename": f} for f in FILES]}).encode()
            self.send_response(status)
            if code:
                self.send_header("X-Error-Code", code)
                body = b""
            self.send_header("X-Repo-Commit", COMMIT)
            self.send_header("ETag", f'"{hashlib.sha256(data).hexdigest()}"')
            self.send_header("Content-Length", str(len(data if not code and self.command == "HEAD" else body)))
            self.end_headers()
            self.wfile.write(body)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    server.asked, server.refuse = [], (200, "")
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


FILES = ["README.md", "tiny-F16.gguf", "tiny-Q8_0.gguf"]


def fetch(folder, reference, port, download="download"):
    offline = ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE", "OPENCLAW_MEMORY_OFFLINE", "HF_TOKEN")
    environment = {name: value for name, value in os.environ.items() if name not in offline}
    environment |= {"HF_ENDPOINT": f"http://127.0.0.1:{port}", "HF_HOME": str(folder / "home"), "NO_PROXY": "*"}
    command = [sys.executable, "-c", FETCH, reference, str(folder / "models"), download]
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout.splitlines()


@pytest.mark.parametrize("reference", ["hf:org/tiny-GGUF/tiny-Q8_0.gguf", "hf:org/tiny-GGUF:Q8_0", "hf:org/tiny-GGUF"])
def test_a_model_is_fetched_once_and_only_for_the_index(hub, tmp_path, reference):
    asking = fetch(tmp_path, reference, hub.server_port, "no")
    assert asking[0].startswith("missing the model is not on this machine")
    assert not hub.asked
    assert fetch(tmp_path, reference, hub.server_port) == ["tiny-Q8_0.gguf 32"] * 2
    asked = len(hub.asked)
    assert fetch(tmp_path, reference, hub.server_port) == ["tiny-Q8_0.gguf 32"] * 2
    assert fetch(tmp_path, reference, hub.server_port, "no") == ["tiny-Q8_0.gguf 32"] * 2
    assert len(hub.asked) == asked > 0


@pytest.mark.parametrize(
    ("refuse", "kind"),
    [
        ((404, "EntryNotFound"), "missing"),
        ((401, "RepoNotFound"), "auth"),
        ((404, "RepoNotFound"), "missing"),
        ((403, "GatedRepo"), "auth"),
    ],
)
def test_refusals(hub, tmp_path, refuse, kind):
    hub.refuse = refuse
    one, other = fetch(tmp_path, "hf:org/tiny-GGUF/tiny-Q8_0.gguf", hub.server_port)
    assert one.split()[0] == kind
    assert other == one


def test_no_connection(tmp_path):
    (line, again) = fetch(tmp_path, "hf:org/tiny-GGUF/tiny-Q8_0.gguf", 9)
    assert line.startswith("network the model could not be downloaded: no connection to the hub")
    assert again == line
