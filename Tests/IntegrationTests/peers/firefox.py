"""Drives a headless Firefox over WebDriver BiDi: Debian 12 has no geckodriver.

    with Firefox() as browser:
        page = browser.page("http://127.0.0.1:8080/")
        page.wait_for("window.orbweaver !== undefined")

A page has the methods of `chromium.Page` that tests need. Firefox never uses loopback candidates: its media needs an
address of this machine that is not loopback. An `AudioContext` in it needs a sound device, which `SoundDevice` pretends
to be.
"""
import base64
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

from websockets.sync.client import connect

from .chromium import PageError, middle_of

PREFERENCES = {
    "media.navigator.streams.fake": True,
    "media.navigator.permission.disabled": True,
    "media.peerconnection.ice.obfuscate_host_addresses": False,
    "media.autoplay.default": 0,
    "media.autoplay.blocking_policy": 0,
    "media.gmp-manager.updateEnabled": False,
    "media.gmp-provider.enabled": False,
    "layout.css.prefers-color-scheme.content-override": 0,  # dark
    # Nothing leaves this machine.
    "app.update.enabled": False,
    "app.normandy.enabled": False,
    "browser.newtabpage.enabled": False,
    "browser.region.network.url": "",
    "browser.safebrowsing.downloads.enabled": False,
    "browser.safebrowsing.malware.enabled": False,
    "browser.safebrowsing.phishing.enabled": False,
    "browser.shell.checkDefaultBrowser": False,
    "browser.startup.homepage": "about:blank",
    "browser.startup.page": 0,
    "datareporting.policy.dataSubmissionEnabled": False,
    "datareporting.policy.firstRunURL": "",
    "dom.push.enabled": False,
    "extensions.update.enabled": False,
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
    "network.dns.disablePrefetch": True,
    "network.prefetch-next": False,
    "services.settings.server": "data:,",
    "toolkit.telemetry.enabled": False,
}
FAKE_MICROPHONE = 1000
"""Hz: the tone of Firefox's fake microphone."""


class SoundDevice:
    """A PulseAudio server of its own with a sink that nobody hears."""

    def __init__(self):
        self._directory = Path(tempfile.mkdtemp(prefix="pulse-"))
        self.server = f"unix:{self._directory / 'socket'}"
        modules = (
            "module-null-sink rate=48000",
            f"module-native-protocol-unix socket={self._directory / 'socket'} auth-anonymous=1",
        )
        command = [
            "pulseaudio",
            "-n",
            "--daemonize=no",
            "--exit-idle-time=-1",
            *(word for each in modules for word in ("-L", each)),
        ]
        home = {"HOME": str(self._directory), "XDG_RUNTIME_DIR": str(self._directory)}
        quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        self._process = subprocess.Popen(command, env={**os.environ, **home}, **quiet)
        end = time.monotonic() + 20
        while not (self._directory / "socket").exists():
            assert self._process.poll() is None and time.monotonic() < end, "pulseaudio did not start"
            time.sleep(0.05)

    def close(self):
        self._process.terminate()
        self._process.wait(10)
        shutil.rmtree(self._directory, ignore_errors=True)


class Firefox:
    """One browser process with a throw-away profile and a sound device of its own."""

    def __init__(self, start_timeout: float = 90):
        self._directory = tempfile.mkdtemp(prefix="firefox-")
        self._number, self._pages = 0, {}
        self._sound = SoundDevice()
        lines = [f"user_pref({json.dumps(name)}, {json.dumps(value)});\n" for name, value in PREFERENCES.items()]
        Path(self._directory, "user.js").write_text("".join(lines))
        own = {
            "HOME": self._directory,
            "MOZ_HEADLESS": "1",
            "MOZ_CRASHREPORTER_DISABLE": "1",
            "PULSE_SERVER": self._sound.server,
            "LANG": "C.UTF-8",
        }
        command = [
            "firefox-esr",
            "--headless",
            "--no-remote",
            "--profile",
            self._directory,
            "--remote-debugging-port",
            "0",
            "about:blank",
        ]
        self._log = open(Path(self._directory, "log"), "wb+")
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=self._log,
            stderr=self._log,
            start_new_session=True,
            env={**os.environ, **own},
        )
        try:
            self._connection = connect(self._address(start_timeout) + "/session", max_size=1 << 28, proxy=None)
            self._socket = self._connection.__enter__()
            capabilities = {"alwaysMatch": {"acceptInsecureCerts": True}}
            self.version = self.command("session.new", {"capabilities": capabilities})["capabilities"]["browserVersion"]
            self.command("session.subscribe", {"events": ["log.entryAdded"]})
        except Exception:
            self._end()
            raise

    def _address(self, timeout: float) -> str:
        end = time.monotonic() + timeout
        while True:
            said = Path(self._log.name).read_bytes()
            if found := re.search(rb"WebDriver BiDi listening on (ws://\S+)", said):
                return found.group(1).decode()
            if self._process.poll() is not None or time.monotonic() > end:
                raise PageError(f"firefox did not start: {said[-1500:].decode('utf-8', 'replace')}")
            time.sleep(0.1)

    def page(self, url: str | None = None, size: tuple[int, int] = (1280, 800)) -> "Page":
        context = self.command("browsingContext.create", {"type": "tab"})["context"]
        page = self._pages[context] = Page(self, context)
        page.resize(size)
        if url:
            page.open(url)
        return page

    def close_pages(self):
        for page in list(self._pages.values()):
            page.close()

    def command(self, method: str, parameters: dict, timeout: float = 60) -> dict:
        self._number += 1
        number = self._number
        self._socket.send(json.dumps({"id": number, "method": method, "params": parameters}))
        end = time.monotonic() + timeout
        while True:
            message = json.loads(self._socket.recv(timeout=max(0.01, end - time.monotonic())))
            if message["type"] == "event":
                self._event(message["params"])
            elif message["id"] == number:
                if message["type"] == "error":
                    raise PageError(f"{method}: {message['error']}: {message.get('message')}")
                return message["result"]

    def _event(self, entry: dict):
        if (page := self._pages.get(entry["source"].get("context"))) and entry["type"] == "javascript":
            page.errors.append(entry["text"])

    def _end(self):
        for ending in (signal.SIGTERM, signal.SIGKILL):
            try:
                os.killpg(self._process.pid, ending)  # its own session, hence its own group
                self._process.wait(5)
            except ProcessLookupError:
                break
            except subprocess.TimeoutExpired:
                continue
        self._process.wait(5)
        self._log.close()
        self._sound.close()
        shutil.rmtree(self._directory, ignore_errors=True)

    def close(self):
        self._connection.__exit__(None, None, None)
        self._end()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class Page:
    """One tab. `errors` collects what its scripts do not catch."""

    def __init__(self, browser: Firefox, context: str):
        self._browser, self._context = browser, context
        self.errors: list[str] = []

    def open(self, url: str, timeout: float = 60):
        self._browser.command(
            "browsingContext.navigate", {"context": self._context, "url": url, "wait": "complete"}, timeout
        )

    def close(self):
        self._browser.command("browsingContext.close", {"context": self._context})
        self._browser._pages.pop(self._context, None)

    def run(self, script: str, timeout: float = 60):
        """Evaluates an expression, waits if it is a promise, and returns its JSON value."""
        expression = f"Promise.resolve({script}).then((value) => JSON.stringify(value === undefined ? null : value))"
        evaluation = {
            "expression": expression,
            "target": {"context": self._context},
            "awaitPromise": True,
            "userActivation": True,
        }
        answer = self._browser.command("script.evaluate", evaluation, timeout)
        if answer["type"] == "exception":
            raise PageError(answer["exceptionDetails"]["text"])
        return json.loads(answer["result"]["value"])

    def click(self, selector: str):
        """Presses the mouse on an element, if somebody who looks at the page could do so."""
        x, y = self.run(middle_of(selector))
        steps = [
            {"type": "pointerMove", "x": x, "y": y},
            {"type": "pointerDown", "button": 0},
            {"type": "pointerUp", "button": 0},
        ]
        mouse = {"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}, "actions": steps}
        self._browser.command("input.performActions", {"context": self._context, "actions": [mouse]})

    def resize(self, size: tuple[int, int], phone: bool = False):
        """A phone has twice as many dots per pixel."""
        viewport = {"viewport": dict(zip(("width", "height"), size)), "devicePixelRatio": 2 if phone else 1}
        self._browser.command("browsingContext.setViewport", {"context": self._context, **viewport})

    def prefer(self, scheme: str):
        """Nothing, as WebDriver BiDi has no command for it: pages prefer `dark`."""

    def screenshot(self, path: Path):
        """Beside the picture that Chromium leaves under this name."""
        taken = self._browser.command("browsingContext.captureScreenshot", {"context": self._context})
        path.parent.mkdir(parents=True, exist_ok=True)
        path.with_stem(f"{path.stem}-firefox").write_bytes(base64.b64decode(taken["data"]))

    def wait_for(self, script: str, timeout: float = 60):
        """Evaluates again and again until the value is true; returns it."""
        end = time.monotonic() + timeout
        while not (value := self.run(script)):
            if time.monotonic() > end:
                raise TimeoutError(f"not true in {timeout} s: {script}\nerrors: {self.errors[-5:]}")
            time.sleep(0.1)
        return value
