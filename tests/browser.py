"""Chromium without a window, driven through its remote debugging pipe.

   with Browser() as b: b.open(url); b.run("script"); b.screenshot("a.png"); b.errors, b.requests
"""
import base64
import fcntl
import json
import os
import shutil
import subprocess
import tempfile
import time

PROGRAM = shutil.which("chromium")
FLAGS = ("--headless=new --no-first-run --no-sandbox --use-gl=angle --use-angle=swiftshader --enable-unsafe-swiftshader "
	"--disable-dev-shm-usage --disable-background-networking --disable-component-update --disable-sync "
	"--remote-debugging-pipe --force-color-profile=srgb").split()


class Browser:
	def __init__(self, size=(900, 700), flags=()):
		self.folder = tempfile.mkdtemp()
		to_child, self.to = os.pipe()
		self.back, from_child = os.pipe()
		ends = [fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 20) for fd in (to_child, from_child)]
		self.log = open(self.folder + "/log", "wb")
		self.child = subprocess.Popen([PROGRAM, *FLAGS, *flags, "--user-data-dir=" + self.folder, "--window-size=%d,%d" % size,
			"about:blank"], stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log, close_fds=False,
			preexec_fn=lambda: (os.dup2(ends[0], 3), os.dup2(ends[1], 4)))
		for fd in (to_child, from_child, *ends):
			os.close(fd)
		self.buffer, self.number, self.session = b"", 0, None
		self.errors, self.requests = [], []
		target = self.call("Target.createTarget", url="about:blank")["targetId"]
		self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
		for domain in ("Page", "Runtime", "Log", "Network"):
			self.call(domain + ".enable")
		self.resize(*size)

	def __enter__(self):
		return self

	def __exit__(self, *_):
		self.child.kill()
		self.child.wait()
		os.close(self.to)
		os.close(self.back)
		self.log.close()
		shutil.rmtree(self.folder, ignore_errors=True)

	def next_message(self):
		while b"\0" not in self.buffer:
			more = os.read(self.back, 1 << 20)
			assert more, "chromium has ended: " + open(self.folder + "/log").read()[-2000:]
			self.buffer += more
		message, self.buffer = self.buffer.split(b"\0", 1)
		return json.loads(message)

	def note(self, event):
		name, what = event.get("method"), event.get("params", {})
		if name == "Runtime.exceptionThrown":
			self.errors.append(json.dumps(what["exceptionDetails"]))
		elif name == "Runtime.consoleAPICalled" and what["type"] in ("error", "warning", "assert"):
			self.errors.append(json.dumps(what["args"]))
		elif name == "Log.entryAdded" and what["entry"]["level"] in ("error", "warning"):
			self.errors.append(what["entry"]["text"] + " " + what["entry"].get("url", ""))
		elif name == "Network.requestWillBeSent":
			self.requests.append(what["request"]["url"])
		elif name == "Network.webSocketCreated":
			self.requests.append(what["url"])

	def call(self, method, **params):
		self.number += 1
		message = {"id": self.number, "method": method, "params": params}
		if self.session:
			message["sessionId"] = self.session
		os.write(self.to, json.dumps(message).encode() + b"\0")
		while True:
			answer = self.next_message()
			if answer.get("id") == self.number:
				assert "error" not in answer, (method, answer["error"])
				return answer["result"]
			self.note(answer)

	def resize(self, w, h, touch=False):
		self.call("Emulation.setDeviceMetricsOverride", width=w, height=h, deviceScaleFactor=1, mobile=touch)

	def open(self, url):
		self.call("Page.navigate", url=url)

	def run(self, script):
		result = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
		assert "exceptionDetails" not in result, (script, result["exceptionDetails"])
		return result["result"].get("value")

	def wait(self, script, seconds=240):	# a busy machine draws a picture in tens of seconds
		end = time.monotonic() + seconds
		while not (value := self.run(script)):
			assert time.monotonic() < end, (script, self.run("document.body && document.body.innerText"), self.errors)
			time.sleep(0.05)
		return value

	def press(self, key, text=None):
		for kind in ("keyDown", "keyUp"):
			self.call("Input.dispatchKeyEvent", type=kind, key=key, **({"text": text} if text and kind == "keyDown" else {}))

	def mouse(self, kind, x, y, button="left", buttons=1, **more):
		self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button=button, buttons=buttons, **more)

	def screenshot(self, path):
		self.run("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
		with open(path, "wb") as file:
			file.write(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))
