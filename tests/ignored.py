"""Finds statements of .bats files whose failure bash ignores, so that their test passes whatever they
do, and those that fail at times: python3 ignored.py FILE ...

`set -e` ends a test at a command that fails, except where bash takes its status for a condition:
before && and ||, and behind !; and except in a substitution that is an argument.
"""
import re
import sys

RULES = (
	(r"&&", "a && b: a failing a is ignored; give each its own line"),
	(r"(^|[;{]|\b(then|do|else))\s*!\s", "! a: is ignored; use run !, or if a; then return 1; fi"),
	(r"^(?!\s*\[).*\|\|\s*(continue|true|:|return 0)(\s|;|$)", "a || true: every failure of a is ignored"),
	(r"\blocal\s[^;]*=\$\(", "local a=$(b): a failing b is ignored; declare a first"),
	(r"(?<!\|)\|\s*grep\s+(-\w+\s+)*-\w*q", "a | grep -q b: fails, too, where grep has found b before a is through; use a | has b"),
	(r"\[\s+-[nz]\s+\$\(", "[ -z $(a) ]: a failing a may be as silent; use silent a, or a file"),
)
CONDITION = re.compile(r"^\s*(if|elif|while|until)\s")


def bare(text):
	"""The text without what is quoted, commented out, in a here document or in [[ ]], line by line.
	Substitutions in double quotes stay; && in parentheses becomes a comma, as the status of such a
	list is the status of the parentheses."""
	out, stack, documents, at, joined = [], [], [], 0, 0
	while at < len(text):
		c, quoted = text[at], bool(stack) and stack[-1] == '"'
		if c == "\\":
			out.append(" ")
			joined += text[at + 1] == "\n"
			at += 2
		elif c == '"':
			stack.pop() if quoted else stack.append('"')
			at += 1
		elif text.startswith("$(", at) or (c == "(" and not quoted):
			stack.append("(")
			out.append("$(" if c == "$" else "(")
			at += len(out[-1])
		elif quoted:
			out.append("\n" if c == "\n" else "")
			at += 1
		elif c == "'":
			ansi = at > 0 and text[at - 1] == "$"
			end = re.compile(r"(?:\\.|[^'\\])*'" if ansi else r"[^']*'", re.S).match(text, at + 1).end()
			out.append("q" + "\n" * text.count("\n", at, end))
			at = end
		elif c == "#" and (at == 0 or text[at - 1] in " \t\n;("):
			at = text.find("\n", at) if "\n" in text[at:] else len(text)
		elif m := re.compile(r"\[\[\s.*?\s\]\]", re.S).match(text, at):
			out.append("[ ]" + "\n" * m[0].count("\n"))
			at = m.end()
		elif m := re.compile(r"<<-?\s*['\"]?(\w+)['\"]?").match(text, at):
			documents.append(m[1])
			at = m.end()
		elif c == "\n" and documents:
			end = re.compile(r"^\s*%s$" % documents.pop(0), re.M).search(text, at).end()
			out.append("\n" * text.count("\n", at, end))
			at = end
		else:
			if c == ")" and stack:
				stack.pop()
			if c == "\n":
				c, joined = "\n" * (joined + 1), 0
			if stack and text.startswith("&&", at):
				c, at = ",", at + 1
			out.append(c)
			at += 1
	return "".join(out)


def ignored(path):
	text = open(path).read().replace("<<<", "   ")
	shown = text.split("\n")
	for number, line in enumerate(bare(text).split("\n")):
		for pattern, why in RULES:
			if re.search(pattern, line) and not (pattern == "&&" and CONDITION.match(line)):
				yield "%s:%d: %s\n\t%s" % (path, number + 1, why, shown[number].strip())


if __name__ == "__main__":
	found = [place for path in sys.argv[1:] for place in ignored(path)]
	print("".join(place + "\n" for place in found), end="")
	sys.exit(bool(found))
