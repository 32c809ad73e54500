"""A real Chromium without a window, driven over its own protocol (Chrome DevTools Protocol) through pipes."""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import time
from pathlib import Path

from support.processes import Child

PROGRAM = "chromium"
ANSWER_SECONDS = 60.0
WAIT_SECONDS = 30.0
KEYS = {"Tab": 9, "Enter": 13, "Escape": 27, "End": 35, "Home": 36, "PageDown": 34}


class BrowserError(RuntimeError):
    """The browser did not do what it was told."""


class Browser:
    """One process with a profile of its own. External synchronization; start it from the main thread."""

    def __init__(self, directory: Path):
        if shutil.which(PROGRAM) is None:
            raise BrowserError(f"{PROGRAM} is not installed: .tools/setup.sh test")
        down, up = directory / "to-browser", directory / "from-browser"
        for pipe in (down, up):
            os.mkfifo(pipe)
        # The protocol's pipes are file descriptors 3 and 4 of the browser.
        self._child = Child("chromium", [
            "bash", "-c", 'exec "$0" "$@" 3<"$TO_BROWSER" 4>"$FROM_BROWSER"', PROGRAM,
            "--headless=new", "--remote-debugging-pipe", f"--user-data-dir={directory / 'profile'}",
            "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--no-proxy-server",
            "--disable-background-networking", "--disable-component-update", "--disable-breakpad",
            "--disable-extensions", "--disable-sync", "--ignore-certificate-errors", "--force-color-profile=srgb",
            "--lang=en-US", "--log-level=3", "about:blank",
        ], directory / "chromium.log", {"TO_BROWSER": str(down), "FROM_BROWSER": str(up), "HOME": str(directory)})
        self._down = os.open(down, os.O_WRONLY)
        self._up = os.open(up, os.O_RDONLY)
        self._rest = b""
        self._number = 0
        self._pages: dict[str, Page] = {}

    def stop(self) -> None:
        self._child.kill()
        os.close(self._down)
        os.close(self._up)

    def logs(self) -> str:
        return self._child.tail()

    def page(self) -> "Page":
        """A fresh window that shares nothing with others: no storage, no cache."""
        context = self.call("Target.createBrowserContext")["browserContextId"]
        target = self.call("Target.createTarget", url="about:blank", browserContextId=context)["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        page = Page(self, session, context)
        self._pages[session] = page
        page.begin()
        return page

    def call(self, method: str, session: str = "", **parameters) -> dict:
        """Sends a command and returns its result; what happens meanwhile goes to the pages."""
        number = self.send(method, session, parameters)
        end = time.monotonic() + ANSWER_SECONDS
        while True:
            message = self._receive(end - time.monotonic())
            if message is None:
                raise BrowserError(f"{method}: no answer\n{self.logs()}")
            if message.get("id") == number:
                if "error" in message:
                    raise BrowserError(f"{method}: {message['error']}")
                return message["result"]
            self._tell(message)

    def send(self, method: str, session: str, parameters: dict) -> int:
        """Sends a command whose answer nobody awaits; its number."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self._down, data):]
        return self._number

    def pump(self, seconds: float) -> None:
        """Hears what happens, for as long as nothing else is to be done."""
        message = self._receive(seconds)
        if message is not None:
            self._tell(message)

    def _tell(self, message: dict) -> None:
        page = self._pages.get(message.get("sessionId", ""))
        if page is not None and "method" in message:
            page.hear(message["method"], message["params"])

    def _receive(self, seconds: float) -> dict | None:
        end = time.monotonic() + seconds
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self._up], [], [], max(0.0, end - time.monotonic()))
            if not ready:
                return None
            data = os.read(self._up, 1 << 20)
            if not data:
                raise BrowserError(f"chromium ended\n{self.logs()}")
            self._rest += data
        message, _, self._rest = self._rest.partition(b"\0")
        return json.loads(message)


class Page:
    """One window. What its page complains of is in `complaints`, what it asked for in `requests`."""

    def __init__(self, browser: Browser, session: str, context: str):
        self._browser, self._session, self._context = browser, session, context
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self.received: dict[str, dict] = {}  # address → status, headers, bytes on the wire
        self._names: dict[str, str] = {}
        self._answers: list[tuple[str, int, dict, str]] = []

    def begin(self) -> None:
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.size(1280, 900)

    def close(self) -> None:
        self._browser.call("Target.disposeBrowserContext", browserContextId=self._context)

    def call(self, method: str, **parameters) -> dict:
        return self._browser.call(method, self._session, **parameters)

    def hear(self, method: str, event: dict) -> None:
        if method == "Runtime.exceptionThrown":
            details = event["exceptionDetails"]
            self.complaints.append(details.get("exception", {}).get("description", details["text"]))
        elif method == "Log.entryAdded" and event["entry"]["level"] == "error":
            entry = event["entry"]
            # A refusal of the API is an answer; the page's own word about it is looked at elsewhere.
            if entry["source"] != "network":
                self.complaints.append(f"{entry['text']} {entry.get('url', '')}")
        elif method == "Network.requestWillBeSent":
            self.requests.append(event["request"]["url"])
            self._names[event["requestId"]] = event["request"]["url"]
        elif method == "Network.responseReceived":
            response = event["response"]
            self.received[response["url"]] = {
                "status": response["status"], "bytes": 0,
                "headers": {name.lower(): value for name, value in response["headers"].items()}}
        elif method == "Network.loadingFinished":
            address = self._names.get(event["requestId"], "")
            if address in self.received:
                self.received[address]["bytes"] = event["encodedDataLength"]
        elif method == "Fetch.requestPaused":
            self._answer(event)

    def answer(self, path: str, body: dict | None, status: int = 200, headers: dict | None = None) -> None:
        """From now on requests whose path begins so are answered by the test; `body` None: by the server again."""
        self._answers = [each for each in self._answers if each[0] != path]
        if body is not None:
            self._answers.insert(0, (path, status, headers or {}, json.dumps(body)))
        if self._answers:
            self.call("Fetch.enable", patterns=[{"urlPattern": "*/api/v1/*"}])
        else:
            self.call("Fetch.disable")

    def _answer(self, event: dict) -> None:
        path = "/" + event["request"]["url"].split("/", 3)[3]
        request = {"requestId": event["requestId"]}
        for begin, status, headers, body in self._answers:
            if path.startswith(begin):
                fields = {"Content-Type": "application/json", **headers}
                self._browser.send("Fetch.fulfillRequest", self._session, {
                    **request, "responseCode": status, "body": base64.b64encode(body.encode()).decode(),
                    "responseHeaders": [{"name": name, "value": value} for name, value in fields.items()]})
                return
        self._browser.send("Fetch.continueRequest", self._session, request)

    def open(self, address: str) -> None:
        answer = self.call("Page.navigate", url=address)
        if "errorText" in answer:
            raise BrowserError(f"{address}: {answer['errorText']}")
        self.wait("document.readyState === 'complete'", address)

    def look(self, script: str):
        """The value of a JavaScript expression."""
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True, userGesture=True)
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            raise BrowserError(f"{script}: {details.get('exception', {}).get('description', details['text'])}")
        return answer["result"].get("value")

    def wait(self, script: str, what: str = "", seconds: float = WAIT_SECONDS):
        """The value of the expression, once it is true."""
        end = time.monotonic() + seconds
        while True:
            value = self.look(f"(value => value instanceof Node || value)({script})")
            if value:
                return value
            if time.monotonic() > end:
                raise AssertionError(f"not within {seconds:.0f} s: {what or script}; the page says:\n{self.text()}")
            self._browser.pump(0.03)

    def text(self, selector: str = "body") -> str:
        return self.look(f"(document.querySelector({json.dumps(selector)}) || {{}}).innerText || ''")

    def wait_for_text(self, text: str, selector: str = "body", seconds: float = WAIT_SECONDS) -> str:
        found = json.dumps(text)
        self.wait(f"(document.querySelector({json.dumps(selector)})?.innerText || '').includes({found})",
                  f"'{text}' in {selector}", seconds)
        return self.text(selector)

    def click(self, selector: str) -> None:
        """A real click in the middle of the first one that is meant."""
        self.wait(f"document.querySelector({json.dumps(selector)})", selector)
        x, y = self.look(
            f"(() => {{ const e = document.querySelector({json.dumps(selector)}); e.scrollIntoView({{block: 'center'}}); "
            "const box = e.getClientRects()[0]; return [box.x + box.width / 2, box.y + box.height / 2]; })()")
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def click_text(self, text: str, selector: str = "a, button") -> None:
        """The same of the first of `selector` whose text is that."""
        found = (f"[...document.querySelectorAll({json.dumps(selector)})]"
                 f".find(each => each.textContent.trim() === {json.dumps(text)})")
        self.wait(f"Boolean({found})", f"'{text}'")
        self.look(f"{found}.setAttribute('data-click', '')")
        self.click("[data-click]")
        self.look("document.querySelector('[data-click]')?.removeAttribute('data-click')")

    def write(self, selector: str, text: str) -> None:
        """Types into a field, instead of what it holds."""
        self.wait(f"document.querySelector({json.dumps(selector)})", selector)
        self.look(f"(() => {{ const e = document.querySelector({json.dumps(selector)}); e.focus(); e.select?.(); }})()")
        self.call("Input.insertText", text=text)

    def press(self, key: str) -> None:
        code = KEYS[key]
        text = {"text": "\r"} if key == "Enter" else {}
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code,
                      **(text if kind == "keyDown" else {}))

    def size(self, width: int, height: int, dark: bool = False) -> None:
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1,
                  mobile=width < 500)
        self.call("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"},
            # A colour that still changes is judged as it is halfway.
            {"name": "prefers-reduced-motion", "value": "reduce"}])

    def difference(self, one: bytes, other: bytes) -> float:
        """By how much the most different part of two pictures differs, from 0 to 1: of 16 by 10 parts, each as one
        colour, so fonts make no difference and what moves or turns red does."""
        sources = json.dumps([f"data:image/webp;base64,{base64.b64encode(each).decode()}" for each in (one, other)])
        return self.look(f"""Promise.all({sources}.map(async source => {{
            const image = new Image();
            image.src = source;
            await image.decode();
            const canvas = new OffscreenCanvas(16, 10).getContext('2d', {{willReadFrequently: true}});
            canvas.imageSmoothingQuality = 'high';
            canvas.drawImage(image, 0, 0, 16, 10);
            return canvas.getImageData(0, 0, 16, 10).data;
        }})).then(([one, other]) => Math.max(...one.map((value, at) => Math.abs(value - other[at]))) / 255)""")

    def offline(self, is_offline: bool) -> None:
        self.call("Network.emulateNetworkConditions", offline=is_offline, latency=0, downloadThroughput=-1,
                  uploadThroughput=-1)

    def picture(self, file: Path, height: int = 0) -> None:
        """The page's first `height` pixels; 0: all of it, as far as it is no longer than three screens of a large
        monitor. As the file's name ends: png, or webp, which is smaller."""
        height = height or min(4000, int(self.look("document.documentElement.scrollHeight")))
        width = int(self.look("window.innerWidth"))
        answer = self.call("Page.captureScreenshot", captureBeyondViewport=True, format=file.suffix[1:], clip={
            "x": 0, "y": 0, "width": width, "height": height, "scale": 1})
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(base64.b64decode(answer["data"]))
