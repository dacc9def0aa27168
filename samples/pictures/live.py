"""A picture of holoserve's page in a browser, while frames come: live.py FRAME.nrrd PICTURE.png; needs chromium."""
import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)) + "/../../tests")
from browser import Browser		# noqa: E402

with open(sys.argv[1], "rb") as file:
	frame = file.read()
server = subprocess.Popen(["holoserve", "--port", "0", "--print-url", "--encode", "png"],
	stdin=subprocess.PIPE, stdout=subprocess.PIPE)
try:
	with Browser(size=(640, 480)) as b:
		b.open(server.stdout.readline().decode().strip())
		for shown in 1, 2:
			server.stdin.write(frame)
			server.stdin.flush()
			b.wait("window.fringepipe && fringepipe.count.shown >= %d" % shown, 600)
			for key in "3+++" if shown == 1 else "":	# depth as colours, nearer
				b.press(key, key)
		b.screenshot(sys.argv[2])
finally:
	server.terminate()
