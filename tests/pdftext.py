"""The texts of a PDF that cairo has written, one string per piece that was shown."""
import re
import zlib


def texts(file):
	data = open(file, "rb").read()
	objects = {int(n): body for n, body in re.findall(rb"(\d+) 0 obj(.*?)endobj", data, re.S)}

	def stream(body):
		raw = re.search(rb"stream\r?\n(.*?)\r?\nendstream", body, re.S).group(1)
		return zlib.decompress(raw) if b"/FlateDecode" in body else raw

	letters = {}			# of the one font: its codes
	for body in objects.values():
		if b"stream" not in body or b"/Image" in body:
			continue
		content = stream(body)
		if b"beginbfchar" not in content and b"beginbfrange" not in content:
			continue
		for code, letter in re.findall(rb"<([0-9a-fA-F]{2,4})> <([0-9a-fA-F]{4})>\s*\n", content):
			letters[int(code, 16)] = chr(int(letter, 16))
		for low, high, to in re.findall(rb"<([0-9a-fA-F]+)> <([0-9a-fA-F]+)> <([0-9a-fA-F]{4})>", content):
			for k in range(int(low, 16), int(high, 16) + 1):
				letters[k] = chr(int(to, 16) + k - int(low, 16))
	found = []
	for body in objects.values():
		if b"stream" not in body or b"/Image" in body or b"/Length1" in body:
			continue
		content = stream(body)
		if b"BT" not in content:
			continue
		for shown in re.findall(rb"(\[[^\]]*\]\s*TJ|\([^)]*\)\s*Tj|<[^>]*>\s*Tj)", re.sub(rb"\\([()\\])", lambda m: b"\\%03o" % m.group(1)[0], content)):
			text = ""
			for hexed, plain in re.findall(rb"<([^>]*)>|\(([^)]*)\)", shown):
				codes = bytes.fromhex(hexed.decode()) if hexed else re.sub(rb"\\(\d{3})", lambda m: bytes([int(m.group(1), 8)]), plain)
				text += "".join(letters.get(c, chr(c)) for c in codes)
			found.append(text)
	return found
