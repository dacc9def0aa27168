"""A writer as common/io/shared_frames.c is one, in Python, to send what that one never would."""
import fcntl
import os
import socket
import struct
import subprocess
import time

PAGE = 65536
F_ADD_SEALS, F_SEAL_SHRINK = 1033, 2


def stride(w):
	return (w * 4 + 63) // 64 * 64


def header(w, h, number, more=""):
	return ("NRRD0004\ntype: float\ndimension: 2\nsizes: %d %d\nendian: little\nencoding: raw\n%s"
		"data file: @%s\n\n" % (w, h, more, number)).encode()


def memory(pixels, sealed=True):
	"""A descriptor of h x w float pixels, rows as frames have them, and a page of leases."""
	h, w = pixels.shape
	fd = os.memfd_create("frame", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
	os.ftruncate(fd, (stride(w) * h + PAGE - 1) // PAGE * PAGE + PAGE)
	for y in range(h):
		os.pwrite(fd, pixels[y].astype("<f4").tobytes(), y * stride(w))
	if sealed:
		fcntl.fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK)
	return fd


class Reader:
	"""A reader that listens, .pipe is the write end of its pipe."""

	def __init__(self, *command, listens=True, **how):
		end, self.pipe = os.pipe()
		self.process = subprocess.Popen(command, stdin=end, stderr=subprocess.PIPE, **how)
		os.close(end)
		while listens and self.process.poll() is None and not self.listens():
			time.sleep(0.01)

	def name(self):
		at = os.fstat(self.pipe)
		return "@fringepipe-1-%x-%x" % (at.st_dev, at.st_ino)

	def listens(self):
		with open("/proc/net/unix") as sockets:
			return any(line.split()[3] == "00010000" for line in sockets if self.name() in line)

	def connect(self):
		s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
		s.connect("\0" + self.name()[1:])
		return s

	def write(self, data):
		os.write(self.pipe, data)

	def end(self):
		"""Its exit status and its messages."""
		os.close(self.pipe)
		messages = self.process.communicate(timeout=20)[1].decode()
		return self.process.returncode, messages


def message(number, *offsets):
	return struct.pack("=%dQ" % (1 + len(offsets)), number, *offsets)


def send(connection, text, fds):
	socket.send_fds(connection, [text], fds)
	for fd in set(fds):
		os.close(fd)
