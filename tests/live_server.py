"""A server of holoserve(5) in a few lines, for tests of what receives a stream: it sends what it is given, right or wrong.

   Server(messages) serves the page at / and the messages at /live, one after another to each client, never more than
   two pictures unanswered. A message is text (str), a picture (bytes), a close code (int), a pause in seconds (float) or
   a function of the connection. Server.seen: what clients wrote.
"""
import base64
import hashlib
import os
import re
import socket
import struct
import subprocess
import threading
import time

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
JPEG, PNG, H264, LUMA = 1, 2, 3, 4


def picture(kind, number, data, flags=1, captured=0, sent=None, magic=b"FP3L"):
	"""A message of 32 bytes head and the picture; times in us."""
	return magic + struct.pack("<BBHQqq", kind, flags, 0, number, captured,
		int(time.time() * 1e6) if sent is None else sent) + data


def keys(meta, w, h, encoding, texture="none"):
	lines = {"encoding": encoding, "width": w, "height": h, "texture": texture, **meta}
	return "".join("%s: %s\n" % kv for kv in lines.items())


class Connection:
	def __init__(self, sock, first):
		self.sock, self.rest, self.texts, self.answered = sock, first, [], threading.Condition()
		self.answers, self.closed, self.pongs = [], False, True

	def take(self, n):
		while len(self.rest) < n:
			more = self.sock.recv(65536)
			if not more:
				raise ConnectionError
			self.rest += more
		part, self.rest = self.rest[:n], self.rest[n:]
		return part

	def send_frame(self, code, data, fin=True):
		n = len(data)
		size = bytes([n]) if n < 126 else b"\x7e" + struct.pack(">H", n) if n < 65536 else b"\x7f" + struct.pack(">Q", n)
		self.sock.sendall(bytes([code | (0x80 if fin else 0)]) + size + data)

	def send(self, message):
		if isinstance(message, str):
			self.send_frame(1, message.encode())
		else:
			self.send_frame(2, message)

	def read_message(self):
		"""Code and content of a frame of the client, which is masked."""
		a, b = self.take(2)
		n = b & 127
		n = n if n < 126 else struct.unpack(">H", self.take(2))[0] if n == 126 else struct.unpack(">Q", self.take(8))[0]
		assert b & 128, "a client's frame is not masked"
		mask, data = self.take(4), self.take(n)
		return a & 15, bytes(v ^ mask[i % 4] for i, v in enumerate(data))

	def read_all(self, seen):
		try:
			while True:
				code, data = self.read_message()
				if code == 8:
					break
				if code == 9 and self.pongs:
					self.send_frame(10, data)
				if code == 1:
					seen.append(data.decode())
					with self.answered:
						self.answers.append(data.decode())
						self.answered.notify_all()
		except (OSError, AssertionError, ConnectionError) as error:
			if isinstance(error, AssertionError):
				seen.append("wrong: %s" % error)
		with self.answered:
			self.closed = True
			self.answered.notify_all()

	def wait_answers(self, n, seconds=60):
		with self.answered:
			self.answered.wait_for(lambda: self.closed or len(self.answers) >= n, seconds)


class Server:
	def __init__(self, messages, page="tools/holoserve/page/page.html", port=0):
		self.messages, self.seen, self.requests = messages, [], []
		self.page = subprocess.run([os.path.join(TOP, "common/live/embed"), os.path.join(TOP, page)], check=True,
			stdout=subprocess.PIPE).stdout
		self.sock = socket.create_server(("127.0.0.1", port))
		self.port = self.sock.getsockname()[1]
		threading.Thread(target=self.accept, daemon=True).start()

	def accept(self):
		while True:
			try:
				sock, _ = self.sock.accept()
			except OSError:
				return
			threading.Thread(target=self.serve, args=(sock,), daemon=True).start()

	def policy(self):
		def hashes(name):
			text = re.search(b"<%s>(.*?)</%s>" % (name, name), self.page, re.S).group(1)
			return "'sha256-%s'" % base64.b64encode(hashlib.sha256(text).digest()).decode()
		return "default-src 'none'; script-src %s; style-src %s; connect-src 'self'" % (hashes(b"script"), hashes(b"style"))

	def serve(self, sock):
		try:
			self.answer(sock)
		except OSError:
			pass
		try:
			sock.shutdown(socket.SHUT_RDWR)
		except OSError:
			pass
		sock.close()

	def answer(self, sock):
		head = b""
		while b"\r\n\r\n" not in head:
			more = sock.recv(4096)
			if not more:
				return
			head += more
		head, rest = head.split(b"\r\n\r\n", 1)
		lines = head.decode().split("\r\n")
		path = lines[0].split()[1]
		fields = {k.lower(): v.strip() for k, v in (line.split(":", 1) for line in lines[1:])}
		self.requests.append((path, fields))
		if path == "/":
			sock.sendall(("HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: %d\r\n"
				"Content-Security-Policy: %s\r\nConnection: close\r\n\r\n" % (len(self.page), self.policy())).encode() + self.page)
		elif path == "/live" and fields.get("sec-websocket-protocol") == "fringepipe.1":
			key = fields["sec-websocket-key"] + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
			sock.sendall(("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
				"Sec-WebSocket-Accept: %s\r\nSec-WebSocket-Protocol: fringepipe.1\r\n\r\n"
				% base64.b64encode(hashlib.sha1(key.encode()).digest()).decode()).encode())
			self.stream(Connection(sock, rest))
		else:
			sock.sendall(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")

	def stream(self, connection):
		threading.Thread(target=connection.read_all, args=(self.seen,), daemon=True).start()
		connection.wait_answers(1)	# what it can decode
		pictures = 0
		for message in self.messages:
			if isinstance(message, int):
				connection.wait_answers(1 + pictures, 5)
				connection.send_frame(8, struct.pack(">H", message))
				connection.wait_answers(1 << 30, 5)
				return
			if isinstance(message, float):
				time.sleep(message)
			elif callable(message):
				if message(connection) == "end":
					return
			else:
				if isinstance(message, bytes):
					connection.wait_answers(pictures)	# 1 for the first text, 1 unanswered
					pictures += 1
				connection.send(message)
		connection.wait_answers(1 << 30, 600)
