# SPDX-License-Identifier: MIT
"""A headless Chromium that shows a page, driven over a pipe (DevTools protocol)."""

import base64
import select

from helpers.harness import *


class Browser:
    """One tab. `requests` lists the URLs that it requested, `complaints` its messages."""

    def __init__(self):
        need_program("chromium")
        theirs_in, ours_out = os.pipe()
        ours_in, theirs_out = os.pipe()
        self.requests, self.complaints, self.loaded = [], [], set()
        self.profile = temp_path("chromium")
        self.n_sent, self.buffer, self.session = 0, b"", None
        # the protocol reads descriptor 3 and writes descriptor 4
        redirect = f'exec "$@" 3<&{theirs_in} 4>&{theirs_out}'
        self.process = subprocess.Popen(
            ["sh", "-c", redirect, "sh", "chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
             "--no-first-run", "--disable-background-networking", "--hide-scrollbars", f"--user-data-dir={self.profile}",
             "--remote-debugging-pipe", "about:blank"], env={**os.environ, "TMPDIR": os.path.dirname(self.profile)},
            pass_fds=(theirs_in, theirs_out), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        os.close(theirs_in)
        os.close(theirs_out)
        self.read_fd, self.write_fd = ours_in, ours_out
        try:
            self._open_tab()
        except BaseException:
            self.stop()
            raise

    def _open_tab(self):
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Network", "Runtime", "Log"):
            self.call(f"{domain}.enable")
        self.call("Page.setLifecycleEventsEnabled", enabled=True)

    def stop(self):
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        os.close(self.read_fd)
        os.close(self.write_fd)
        shutil.rmtree(self.profile, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def next_message(self):
        while b"\0" not in self.buffer:
            ready, _, _ = select.select([self.read_fd], [], [], HANGS_S)
            more = os.read(self.read_fd, 1 << 20) if ready else b""
            check(more, "chromium says nothing")
            self.buffer += more
        text, self.buffer = self.buffer.split(b"\0", 1)
        message = json.loads(text)
        parameters = message.get("params", {})
        if message.get("method") == "Network.requestWillBeSent":
            self.requests.append(parameters["request"]["url"])
        elif message.get("method") == "Page.lifecycleEvent" and parameters["name"] == "load":
            self.loaded.add(parameters["loaderId"])
        elif message.get("method") == "Log.entryAdded":
            self.complaints.append(parameters["entry"]["text"])
        elif message.get("method") in ("Runtime.consoleAPICalled", "Runtime.exceptionThrown"):
            self.complaints.append(json.dumps(parameters))
        return message

    def call(self, method, **parameters):
        self.n_sent += 1
        message = {"id": self.n_sent, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.write_fd, json.dumps(message).encode() + b"\0")
        while (answer := self.next_message()).get("id") != self.n_sent:
            pass
        check("error" not in answer, f"{method}: {answer.get('error')}")
        return answer["result"]

    def show(self, path, width, scheme):
        """Loads a file at a width in CSS pixels, in the colours "light" or "dark"."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=800, deviceScaleFactor=1, mobile=width < 600)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        loader = self.call("Page.navigate", url=f"file://{path}")["loaderId"]
        while loader not in self.loaded:
            self.next_message()

    def evaluate(self, script):
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True)
        check("exceptionDetails" not in answer, f"{answer.get('exceptionDetails')}")
        return answer["result"]["value"]

    def screenshot(self, path):
        data = self.call("Page.captureScreenshot", captureBeyondViewport=True)["data"]
        with open(path, "wb") as f:
            f.write(base64.b64decode(data))
