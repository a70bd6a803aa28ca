"""HAProxy in front of gateways, set up as docs/operations.md recommends, but for times that suit a test."""
import shutil
import socket
import subprocess
import tempfile
from pathlib import Path

from .gateway import free_ports

PROGRAM = shutil.which("haproxy") or "/usr/sbin/haproxy"


class HAProxy:
    """Sends requests in turns to all gateways that say they are ready. It tries each request once: what one gateway
    refuses, the client sees."""

    def __init__(self, *ports: int, mode: str = "http", server_options: str = ""):
        """`mode`: `tcp` passes bytes on, TLS among them; `server_options`: of each gateway, such as
        `send-proxy-v2`."""
        self.port = free_ports(1)
        self._scheme = "https" if "check-ssl" in server_options else "http"
        self._folder = Path(tempfile.mkdtemp(prefix="orbweaver-proxy-"))
        self._commands = self._folder / "commands"
        servers = "\n".join(f"    server g{port} 127.0.0.1:{port} check {server_options}" for port in ports)
        (self._folder / "haproxy.cfg").write_text(f"""
global
    stats socket {self._commands} mode 600 level admin
defaults
    mode {mode}
    timeout connect 2s
    timeout client 30s
    timeout server 30s
    timeout tunnel 1h
    retries 0
frontend clients
    bind 127.0.0.1:{self.port}
    default_backend gateways
backend gateways
    balance roundrobin
    option httpchk
    http-check send meth GET uri /ready ver HTTP/1.1 hdr Host gateway
    http-check expect status 200
    default-server inter 100ms fastinter 100ms downinter 100ms fall 2 rise 1
{servers}
""")
        self._process: subprocess.Popen | None = None

    @property
    def http(self) -> str:
        return f"{self._scheme}://127.0.0.1:{self.port}"

    def __enter__(self) -> "HAProxy":
        self._process = subprocess.Popen(
            [PROGRAM, "-db", "-f", self._folder / "haproxy.cfg"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        return self

    def __exit__(self, *_):
        self._process.kill()
        self._process.wait()
        shutil.rmtree(self._folder, ignore_errors=True)

    def is_up(self, port: int) -> bool:
        """Whether it sends requests to this gateway, as far as it knows by now."""
        try:
            with socket.socket(socket.AF_UNIX) as commands:
                commands.connect(str(self._commands))
                commands.sendall(b"show stat\n")
                text = b"".join(iter(lambda: commands.recv(65536), b"")).decode()
        except OSError:  # not started yet
            return False
        header, *rows = (line.split(",") for line in text.splitlines() if line)
        name, status = header.index("svname"), header.index("status")
        return any(row[name] == f"g{port}" and row[status] == "UP" for row in rows)
