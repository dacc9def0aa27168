#!/usr/bin/python3
"""other_device.py IN.spv OUT.spv WAY ...

Rewrites a shader, so that a device that has the processor's floats computes as another one may:

nan             results that are NaN are 0x7fffffff, as NVIDIA's are
KIND_operands   of operations of a kind, subnormal operands are taken for zeros of their sign
KIND_results    subnormal results are

KIND: add (and subtract), multiply, divide, compare, convert (to whole numbers), call (floor, abs, min, sqrt, ...).
Numbers are those of the SPIR-V specification 1.5, sections 2.3 and 3.37, and of its extended instructions for GLSL.
"""
import struct
import sys

HEADER_WORDS = 5
NAME, EXTENSION, CALL, TYPE_BOOL, TYPE_INT, TYPE_FLOAT, TYPE_VECTOR = 5, 11, 12, 20, 21, 22, 23
CONSTANTS = 1, 43, 44, 46		# OpUndef, OpConstant, OpConstantComposite, OpConstantNull
CONSTANT, COMPOSITE, FUNCTION, DECORATE, COPY = 43, 44, 54, 71, 83
BITCAST, SELECT, EQUAL, MORE, AND = 124, 169, 170, 172, 199
WITHOUT_RESULT = 56, 62, 246, 247, 248, 249, 250, 253, 254	# of what stands in functions
KINDS = {129: "add", 131: "add", 133: "multiply", 142: "multiply", 148: "multiply", 136: "divide",
	109: "convert", 110: "convert"} | dict.fromkeys(range(180, 192), "compare")
# Trunc, FAbs, Floor, Fract, Sqrt, FMin, FMax, FClamp, FMix
CALLS = 3, 4, 8, 10, 31, 37, 40, 43, 46


def instruction(op, *words):
	return [(len(words) + 1) << 16 | op, *words]


class Shader:
	"""The instructions of a module; what is added goes into `new` (types, constants) and `body`."""

	def __init__(self, words):
		self.head, self.new, self.body = list(words[:HEADER_WORDS]), [], []
		self.made = {}		# types and constants by their content
		code, at = [], HEADER_WORDS
		while at < len(words):
			length = words[at] >> 16
			code.append(list(words[at:at + length]))
			at += length
		first = next(i for i, c in enumerate(code) if c[0] & 0xffff == FUNCTION)
		self.start, self.functions = code[:first], code[first:]
		self.calls_of = next((c[1] for c in self.start if c[0] & 0xffff == EXTENSION), None)
		self.type_of = {}	# of a value
		for c in self.start:
			op = c[0] & 0xffff
			if op in (TYPE_BOOL, TYPE_INT, TYPE_FLOAT, TYPE_VECTOR):
				self.made[op, *c[2:]] = c[1]
			elif op in CONSTANTS:
				self.type_of[c[2]] = c[1]
		self.floats = {self.made.get((TYPE_FLOAT, 32)): 1}	# numbers in a value of the type
		self.floats |= {t: key[2] for key, t in self.made.items() if key[0] == TYPE_VECTOR and key[1] in self.floats}

	def fresh(self):
		self.head[3] += 1
		return self.head[3] - 1

	def type(self, n, op, *words):
		"A scalar type, or its vector of n."
		if n > 1:
			op, words = TYPE_VECTOR, (self.type(1, op, *words), n)
		if (op, *words) not in self.made:
			self.made[op, *words] = self.fresh()
			self.new.append(instruction(op, self.made[op, *words], *words))
		return self.made[op, *words]

	def uint(self, n):
		return self.type(n, TYPE_INT, 32, 0)

	def bools(self, n):
		return self.type(n, TYPE_BOOL)

	def constant(self, bits, n, floats=False):
		kind = self.type(n, TYPE_FLOAT, 32) if floats else self.uint(n)
		if (kind, bits) not in self.made:
			words = [bits] if n == 1 else [self.constant(bits, 1, floats)] * n
			self.made[kind, bits] = self.fresh()
			self.new.append(instruction(CONSTANT if n == 1 else COMPOSITE, kind, self.made[kind, bits], *words))
		return self.made[kind, bits]

	def add(self, op, kind, *words):
		result = self.fresh()
		self.body.append(instruction(op, kind, result, *words))
		return result

	def flushed(self, x, n):
		bits = self.add(BITCAST, self.uint(n), x)
		exponent = self.add(AND, self.uint(n), bits, self.constant(0x7f800000, n))
		small = self.add(EQUAL, self.bools(n), exponent, self.constant(0, n))
		sign = self.add(AND, self.uint(n), bits, self.constant(0x80000000, n))
		bits = self.add(SELECT, self.uint(n), small, sign, bits)
		return self.add(BITCAST, self.type(n, TYPE_FLOAT, 32), bits)

	def with_one_nan(self, x, n):
		bits = self.add(BITCAST, self.uint(n), x)
		size = self.add(AND, self.uint(n), bits, self.constant(0x7fffffff, n))
		isnan = self.add(MORE, self.bools(n), size, self.constant(0x7f800000, n))
		return self.add(SELECT, self.type(n, TYPE_FLOAT, 32), isnan, self.constant(0x7fffffff, n, True), x)

	def rewrite(self, ways):
		renamed = {}		# results that are rewritten, before they are
		for c in self.functions:
			op = c[0] & 0xffff
			if len(c) > 2 and op not in WITHOUT_RESULT:
				self.type_of[c[2]] = c[1]
			call = op == CALL and c[3] == self.calls_of and c[4] in CALLS
			kind = "call" if call else KINDS.get(op)
			n = self.floats.get(c[1], 0) if kind else 0
			if kind and kind + "_operands" in ways:
				for i in range(5 if call else 3, len(c)):
					width = self.floats.get(self.type_of.get(c[i]), 0)
					if width:
						c[i] = self.flushed(c[i], width)
			self.body.append(c)
			flush = kind and kind + "_results" in ways
			if n and (flush or "nan" in ways):
				result, c[2] = c[2], self.fresh()
				renamed[result] = x = c[2]
				if flush:
					x = self.flushed(x, n)
				if "nan" in ways:
					x = self.with_one_nan(x, n)
				self.body.append(instruction(COPY, c[1], result, x))

		def decorated(c):	# NoContraction is of the operation
			return [c[0], renamed.get(c[1], c[1]), *c[2:]] if c[0] & 0xffff == DECORATE else c

		code = [decorated(c) for c in self.start] + self.new + self.body
		return self.head + [word for c in code for word in c]


def main():
	source, target, *ways = sys.argv[1:]
	with open(source, "rb") as file:
		content = file.read()
	words = Shader(struct.unpack(f"<{len(content) // 4}I", content)).rewrite(ways)
	with open(target, "wb") as file:
		file.write(struct.pack(f"<{len(words)}I", *words))


if __name__ == "__main__":
	main()
