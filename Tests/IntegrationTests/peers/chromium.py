"""Drives a headless Chromium over --remote-debugging-pipe, with the standard library only.

    with Chromium(microphone=wav) as browser:
        page = browser.page("http://127.0.0.1:8080/")
        page.click("#phone-alice [data-action=call]")
        page.wait_for("orbweaver.phones.alice.view === 'connected'")

Everything here blocks; an asyncio test calls it through `asyncio.to_thread`, one call at a time per browser.
"""
import base64
import fcntl
import json
import os
import select
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

FLAGS = [
    "--headless=new",
    "--no-sandbox",  # needed as root
    "--disable-dev-shm-usage",  # /dev/shm may be tiny in a container
    "--disable-gpu",
    "--disable-software-rasterizer",
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-extensions",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-breakpad",
    "--disable-background-timer-throttling",
    "--disable-renderer-backgrounding",
    "--disable-backgrounding-occluded-windows",
    "--password-store=basic",
    "--use-mock-keychain",
    "--autoplay-policy=no-user-gesture-required",
    "--ignore-certificate-errors",  # the gateway's --dev certificate is its own
    "--use-fake-device-for-media-stream",
    "--use-fake-ui-for-media-stream",
    "--allow-loopback-in-peer-connection",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1",  # no name leaves this machine
    "--disable-features=WebRtcHideLocalIpsWithMdns,OptimizationHints,MediaRouter,Translate",
]


class PageError(Exception):
    """The page or its browser failed; the text carries the script's stack or the browser's last words."""


class Chromium:
    """One browser process with a throw-away profile."""

    def __init__(self, microphone: Path | None = None, start_timeout: float = 60):
        """`microphone`: a 16-bit WAV file that is played in a loop as the fake microphone; a beep without it."""
        self._directory = tempfile.mkdtemp(prefix="chromium-")
        self._number, self._answers, self._pages, self._buffer = 0, {}, {}, b""
        flags = [*FLAGS, f"--user-data-dir={self._directory}", "--remote-debugging-pipe"]
        if microphone:
            flags.append(f"--use-file-for-fake-audio-capture={Path(microphone).resolve()}")
        self._stderr = open(os.path.join(self._directory, "stderr.log"), "wb+")
        self._start(
            [os.environ.get("CHROMIUM") or shutil.which("chromium") or "/usr/bin/chromium", *flags, "about:blank"]
        )
        try:
            self.version = self.command("Browser.getVersion", timeout=start_timeout)["product"]
        except Exception as error:
            last_words = self._last_words()
            self.close()
            raise PageError(f"chromium did not start: {error}\n{last_words}") from error

    def _start(self, command: list[str]):
        """The browser reads commands from descriptor 3 and writes to 4."""
        read_end, self._write = os.pipe()
        self._read, write_end = os.pipe()
        # Move the child's ends out of the way of 3 and 4 before they are duplicated onto them.
        child_in, child_out = (fcntl.fcntl(end, fcntl.F_DUPFD, 20) for end in (read_end, write_end))
        os.close(read_end)
        os.close(write_end)

        def in_child():
            os.dup2(child_in, 3, True)
            os.dup2(child_out, 4, True)

        home = {
            "HOME": self._directory,
            "XDG_CONFIG_HOME": self._directory,
            "XDG_CACHE_HOME": self._directory,
            "LANG": "C.UTF-8",
        }
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=self._stderr,
            preexec_fn=in_child,
            pass_fds=(3, 4, child_in, child_out),  # 3 and 4 too: descriptors are closed after `in_child` has run
            start_new_session=True,
            env={**os.environ, **home},
        )
        os.close(child_in)
        os.close(child_out)
        os.set_blocking(self._read, False)

    def page(self, url: str | None = None, size: tuple[int, int] = (1280, 800), phone: bool = False) -> "Page":
        target = self.command("Target.createTarget", {"url": "about:blank"})["targetId"]
        session = self.command("Target.attachToTarget", {"targetId": target, "flatten": True})["sessionId"]
        page = self._pages[session] = Page(self, target, session)
        for domain in ("Page", "Runtime", "Log"):
            page.command(f"{domain}.enable")
        page.resize(size, phone)
        if url:
            page.open(url)
        return page

    def close(self):
        if self.process.poll() is None:
            try:
                self.command("Browser.close", timeout=3)
                self.process.wait(5)
            except (PageError, TimeoutError, OSError, subprocess.TimeoutExpired):
                pass  # it is ended by force below
            for ending in (signal.SIGTERM, signal.SIGKILL):
                try:
                    os.killpg(self.process.pid, ending)  # its own session, hence its own group
                except (ProcessLookupError, PermissionError):
                    break
                time.sleep(0.2)
            self.process.wait(5)
        os.close(self._write)
        os.close(self._read)
        self._stderr.close()
        shutil.rmtree(self._directory, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    # The protocol: JSON objects, each ended by a zero byte

    def command(
        self, method: str, parameters: dict | None = None, session: str | None = None, timeout: float = 30
    ) -> dict:
        self._number += 1
        number = self._number
        message = {"id": number, "method": method, "params": parameters or {}}
        if session:
            message["sessionId"] = session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self._write, data) :]
        end = time.monotonic() + timeout
        while number not in self._answers:
            if time.monotonic() > end:
                raise TimeoutError(f"{method}: no answer in {timeout} s")
            self._receive(0.5)
        answer = self._answers.pop(number)
        if "error" in answer:
            raise PageError(f"{method}: {answer['error'].get('message')}")
        return answer["result"]

    def _receive(self, wait: float):
        """Takes in what there is, waiting at most `wait` seconds for it."""
        if not select.select([self._read], [], [], wait)[0]:
            return
        while True:
            try:
                data = os.read(self._read, 1 << 20)
            except BlockingIOError:
                break
            if not data:
                raise PageError(f"the browser has gone (exit status {self.process.poll()}): {self._last_words()}")
            self._buffer += data
        *messages, self._buffer = self._buffer.split(b"\0")
        for message in map(json.loads, messages):
            if "id" in message:
                self._answers[message["id"]] = message
            elif page := self._pages.get(message.get("sessionId")):
                page._event(message["method"], message.get("params", {}))

    def _last_words(self) -> str:
        self._stderr.flush()
        self._stderr.seek(0)
        return self._stderr.read().decode("utf-8", "replace")[-2000:]


def middle_of(selector: str) -> str:
    """A script: where the mouse meets an element. It throws if nobody who looks at the page could press there."""
    return f"""(() => {{
      const element = document.querySelector({json.dumps(selector)});
      element.scrollIntoView({{ block: 'center', behavior: 'instant' }});
      const box = element.getBoundingClientRect();
      const [x, y] = [box.x + box.width / 2, box.y + box.height / 2].map(Math.round);
      const hit = document.elementFromPoint(x, y);
      const reached = hit !== null && (element.contains(hit) || hit.contains(element));
      if (element.disabled || !reached) throw new Error(`${{element.outerHTML}} cannot be clicked at ${{x}}, ${{y}}`);
      return [x, y];
    }})()"""


class Page:
    """One tab. `console` and `errors` collect what its scripts say."""

    def __init__(self, browser: Chromium, target: str, session: str):
        self._browser, self._target, self._session = browser, target, session
        self._loaded = False
        self.console: list[str] = []
        self.errors: list[str] = []

    def command(self, method: str, parameters: dict | None = None, timeout: float = 30) -> dict:
        return self._browser.command(method, parameters, self._session, timeout)

    def open(self, url: str, timeout: float = 60):
        self._loaded = False
        answer = self.command("Page.navigate", {"url": url}, timeout)
        if answer.get("errorText"):
            raise PageError(f"{url}: {answer['errorText']}")
        end = time.monotonic() + timeout
        while not self._loaded:
            if time.monotonic() > end:
                raise TimeoutError(f"{url} did not load in {timeout} s")
            self._browser._receive(0.2)

    def run(self, script: str, timeout: float = 60):
        """Evaluates an expression, waits if it is a promise, and returns its JSON value."""
        answer = self.command(
            "Runtime.evaluate",
            {"expression": script, "awaitPromise": True, "returnByValue": True, "userGesture": True},
            timeout,
        )
        if details := answer.get("exceptionDetails"):
            thrown = details.get("exception", {})
            raise PageError(thrown.get("description") or json.dumps(thrown.get("value")) or details.get("text"))
        return answer["result"].get("value")

    def wait_for(self, script: str, timeout: float = 60):
        """Evaluates again and again until the value is true; returns it."""
        end = time.monotonic() + timeout
        while not (value := self.run(script)):
            if time.monotonic() > end:
                raise TimeoutError(
                    f"not true in {timeout} s: {script}\nconsole: {self.console[-5:]}\nerrors: {self.errors[-5:]}"
                )
            time.sleep(0.1)
        return value

    def click(self, selector: str):
        """Presses the mouse on an element, if somebody who looks at the page could do so."""
        x, y = self.run(middle_of(selector))
        for kind in ("mousePressed", "mouseReleased"):
            self.command("Input.dispatchMouseEvent", {"type": kind, "x": x, "y": y, "button": "left", "clickCount": 1})

    def resize(self, size: tuple[int, int], phone: bool = False):
        width, height = size
        self.command(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": height, "deviceScaleFactor": 2 if phone else 1, "mobile": phone},
        )

    def prefer(self, scheme: str):
        """`dark` or `light`."""
        self.command("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]})

    def screenshot(self, path: Path):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(base64.b64decode(self.command("Page.captureScreenshot", {"format": "png"})["data"]))

    def close(self):
        self._browser.command("Target.closeTarget", {"targetId": self._target})
        self._browser._pages.pop(self._session, None)

    def _event(self, method: str, parameters: dict):
        if method == "Page.loadEventFired":
            self._loaded = True
        elif method == "Runtime.consoleAPICalled":
            words = (argument.get("value", argument.get("description", "")) for argument in parameters["args"])
            self.console.append(f"{parameters['type']}: {' '.join(map(str, words))}")
        elif method == "Runtime.exceptionThrown":
            details = parameters["exceptionDetails"]
            self.errors.append(details.get("exception", {}).get("description") or details.get("text"))
        elif method == "Log.entryAdded" and parameters["entry"]["level"] == "error":
            self.errors.append(f"{parameters['entry']['text']} {parameters['entry'].get('url', '')}")
        elif method == "Inspector.targetCrashed":
            self.errors.append("the page's process crashed")
