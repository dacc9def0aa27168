"""A viewer of holoserve in Python's standard library, written from holoserve(5) and RFC 6455.

live_client.py URL [FRAMES [FOLDER]]: shows so many frames (1), writes them into a folder as files with their
keys, and prints what came."""
import base64, hashlib, os, re, signal, socket, struct, subprocess, sys, time

GUID = b'258EAFA5-E914-47DA-95CA-C5AB0DC85B11'
KINDS = {1: 'jpeg', 2: 'png', 3: 'h264', 4: 'luma'}


def place(url):
    host, port = re.fullmatch(r'http://([^/]+):(\d+)/?\s*', url).groups()
    return host.strip('[]'), int(port)


def http(url, text, wait=10):
    """The answer to any bytes."""
    s = socket.create_connection(place(url), wait)
    answer = b''
    try:
        s.sendall(text)
        while more := s.recv(65536):
            answer += more
    except (ConnectionResetError, BrokenPipeError):
        pass
    s.close()
    return answer


def get(url, path='/', more='', host=None):
    host = host or '%s:%d' % place(url)
    return http(url, f'GET {path} HTTP/1.1\r\nHost: {host}\r\n{more}\r\n'.encode())


class Refused(Exception):
    pass


class Closed(Exception):
    """The server has closed: args are the code and the reason, or nothing."""


class Viewer:
    def __init__(self, url, can='can jpeg png', origin=None, host=None, path='/live', protocol='fringepipe.1', buffer=None):
        self.socket = socket.socket(socket.AF_INET6 if '[' in url else socket.AF_INET)
        if buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
        self.socket.settimeout(20)
        self.socket.connect(place(url))
        self.rest, self.keys, self.ended = b'', {}, False
        key = base64.b64encode(os.urandom(16))
        lines = [f'GET {path} HTTP/1.1', 'Host: ' + (host or '%s:%d' % place(url)), 'Upgrade: websocket',
                 'Connection: Upgrade', 'Sec-WebSocket-Key: ' + key.decode(), 'Sec-WebSocket-Version: 13']
        if protocol:
            lines.append('Sec-WebSocket-Protocol: ' + protocol)
        if origin:
            lines.append('Origin: ' + origin)
        self.socket.sendall('\r\n'.join(lines + ['', '']).encode())
        while b'\r\n\r\n' not in self.rest:
            more = self.socket.recv(4096)
            if not more:
                raise Refused(self.rest)
            self.rest += more
        head, self.rest = self.rest.split(b'\r\n\r\n', 1)
        if b' 101 ' not in head.split(b'\r\n')[0]:
            raise Refused(head)
        accept = base64.b64encode(hashlib.sha1(key + GUID).digest())
        assert accept in head, head
        if protocol:
            assert b'fringepipe.1' in head, head
        if can:
            self.say(can)

    def take(self, n):
        while len(self.rest) < n:
            more = self.socket.recv(1 << 16)
            if not more:
                raise Closed()
            self.rest += more
        part, self.rest = self.rest[:n], self.rest[n:]
        return part

    def send(self, opcode, payload, final=True, masked=True):
        n, mask = len(payload), os.urandom(4)
        head = bytes([opcode | (128 if final else 0)])
        bit = 128 if masked else 0
        if n < 126:
            head += bytes([bit | n])
        elif n < 65536:
            head += bytes([bit | 126]) + struct.pack('>H', n)
        else:
            head += bytes([bit | 127]) + struct.pack('>Q', n)
        if masked:
            payload = bytes(b ^ mask[i % 4] for i, b in enumerate(payload))
            head += mask
        self.socket.sendall(head + payload)

    def say(self, text):
        self.send(1, text.encode())

    def answer(self, opcode, payload):
        """The server may be gone already; what it sent is still to be read."""
        try:
            self.send(opcode, payload)
        except (BrokenPipeError, ConnectionResetError):
            pass

    def message(self):
        """The next message: its opcode (1 text, 2 binary) and bytes."""
        whole = b''
        first = 0
        while True:
            head = self.take(2)
            n = head[1]
            assert n < 128, 'a server does not mask'
            if n == 126:
                n = struct.unpack('>H', self.take(2))[0]
            elif n == 127:
                n = struct.unpack('>Q', self.take(8))[0]
            payload = self.take(n)
            opcode = head[0] & 15
            if opcode == 9:
                self.answer(10, payload)
            elif opcode == 8:
                code = struct.unpack('>H', payload[:2])[0] if n > 1 else None
                self.answer(8, payload[:2])
                raise Closed(code, payload[2:].decode())
            elif opcode < 3:
                whole += payload
                first = first or opcode
                if head[0] & 128:
                    return first, whole

    def frame(self, shows=True):
        """The next picture as a dictionary, after the keys, which stay in self.keys. A head alone, behind the last
        picture, sets self.ended."""
        opcode, text = self.message()
        while opcode == 1 or self.is_end(text):
            if opcode == 1:
                self.keys = dict(line.split(': ', 1) for line in text.decode().splitlines())
            opcode, text = self.message()
        magic, kind, flags, zero, number, captured, sent = struct.unpack('<4sBBHQqq', text[:32])
        assert magic == b'FP3L' and zero == 0 and KINDS[kind] == self.keys['encoding'], text[:32]
        if shows:
            self.answer(1, str(number).encode())
        return dict(kind=KINDS[kind], flags=flags, number=number, captured_us=captured, sent_us=sent,
                    received_us=time.time() * 1e6, picture=text[32:])

    def is_end(self, message):
        end = len(message) == 32 and message[:4] == b'FP3L' and bool(message[5] & 2)
        self.ended |= end
        return end

    def close(self):
        self.socket.close()


def heed_interrupts():
    """Where tests run behind a shell's &, SIGINT is ignored, and so it would stay."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


class Server:
    """holoserve with these words, a string, fed by put() unless they name files."""

    def __init__(self, words='', files=False, program='holoserve', before=heed_interrupts):
        self.process = subprocess.Popen(f'{program} --port 0 --print-url {words}'.split(), stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, stdin=None if files else subprocess.PIPE, bufsize=0,
                                        preexec_fn=before)
        self.url = self.process.stdout.readline().decode().strip()
        if not self.url:
            raise Refused(self.process.stderr.read())

    def put(self, data):
        self.process.stdin.write(data)

    def end(self, signal=None):
        """Its exit status and messages, once the input has ended, or after the signal."""
        if signal:
            self.process.send_signal(signal)
        elif self.process.stdin:
            self.process.stdin.close()
            self.process.stdin = None
        messages = self.process.communicate(timeout=60)[1].decode()
        return self.process.returncode, messages

    def memory(self):
        """The most that it had at a time, in KiB."""
        return int(re.search(r'VmHWM:\s*(\d+)', open(f'/proc/{self.process.pid}/status').read()).group(1))


def drain(viewer, shows=True):
    """All pictures until the server closes: list of them, and the code."""
    frames = []
    try:
        while True:
            frames.append(viewer.frame(shows))
    except Closed as closed:
        return frames, closed.args[0] if closed.args else None


def main():
    url, frames = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1
    viewer = Viewer(url)
    try:
        for i in range(frames):
            frame = viewer.frame()
            print(frame['kind'], frame['number'], len(frame['picture']))
            if len(sys.argv) > 3:
                suffix = {'jpeg': 'jpg', 'png': 'png'}[frame['kind']]
                open(f'{sys.argv[3]}/{frame["number"]:06d}.{suffix}', 'wb').write(frame['picture'])
    except Closed as closed:
        print('closed', *closed.args)


if __name__ == '__main__':
    main()
