load helpers

setup() {
	work=$(mktemp -d)
	cd "$work" || exit 1
}

teardown() {
	rm -rf "$work"
}

@test "camnoise: finds read noise and gain from two images of a scene" {
	py '
rng = np.random.default_rng(1)
level = np.linspace(20, 220, 400)[None] * np.ones((300, 1))
for i in range(2):		# the second one 1 % brighter
	mean = level * (1 + 0.01 * i)
	v = rng.normal(mean, np.sqrt(1.2 ** 2 + 0.05 * np.maximum(mean - 10, 0)))
	write_frames("flat%d.nrrd" % i, [Frame(np.clip(np.round(v), 0, 255).astype("u1"))])'
	camnoise --black-level 10 flat0.nrrd flat1.nrrd >words
	camnoise flat0.nrrd flat1.nrrd -o file
	py '
words = dict(w[2:].split("=") for w in open("words").read().split())
expect(abs(float(words["read-noise"]) / 1.2 - 1) < 0.08 and abs(float(words["gain"]) / 0.05 - 1) < 0.03 and words["black-level"] == "10", words)'
	has -- '^--read-noise=.* --gain=[0-9.]*$' <file
	fringesim -q -s 120x100 -p 40 -n 3 -o set.nrrd
	# shellcheck disable=SC2046
	silent phasewrap --sigma $(cat words) set.nrrd -o out.nrrd
	fails 1 "wants images of a scene two by two, got 1" camnoise flat0.nrrd
	fails 1 "got 3" camnoise flat0.nrrd flat1.nrrd flat0.nrrd
	fails 1 "does not grow with the level" camnoise flat0.nrrd flat0.nrrd
	fails 1 "images 1 and 2 do not show the same" camnoise set.nrrd
	py 'write_frames("dim.nrrd", [Frame((read_frame("flat0.nrrd").pixels // 2).astype("u1"))])'
	fails 1 "image 2 is 0.4" camnoise flat0.nrrd dim.nrrd
	framecat --crop 0,0,100,100 flat0.nrrd -o small.nrrd
	fails 1 "image 2 is not of the size and type of image 1" camnoise flat0.nrrd small.nrrd
	framecat --crop 0,0,10,10 flat0.nrrd -o tiny.nrrd
	fails 1 "only 100 pixels" camnoise tiny.nrrd tiny.nrrd
	fails 2 "camnoise: --sigma: unknown" phasewrap --fit-noise --sigma flat0.nrrd flat1.nrrd
}

@test "camnoise: pairs as planes and as files, one colour, clipped pixels left out; the old spelling" {
	py '
rng = np.random.default_rng(2)
level = np.linspace(20, 200, 300)[None] * np.ones((200, 1))
shot = lambda: np.clip(np.round(rng.normal(level, np.sqrt(1 + 0.05 * level))), 0, 255).astype("u1")
a, b = shot(), shot()
write_frames("pair.nrrd", [Frame(np.stack([a, b]), ["a", "b"])])
for name, v in ("a", a), ("b", b):
	write_frames(name + ".nrrd", [Frame(v)])
	write_frames(name + "rgb.nrrd", [Frame(np.stack([v // 2, v, v // 3]), ["r", "g", "b"])])
a[:, :50] = b[:, :50] = 255
for name, v in ("a", a), ("b", b):
	write_frames(name + "clipped.nrrd", [Frame(v)])
three = np.stack([a, b, a])
write_frames("three.nrrd", [Frame(three, ["a", "b", "c"])])'
	camnoise pair.nrrd >words
	camnoise a.nrrd b.nrrd | cmp - words
	camnoise --channel g argb.nrrd brgb.nrrd | cmp - words
	phasewrap --fit-noise a.nrrd b.nrrd | cmp - words
	fringepipe framecat a.nrrd b.nrrd , phasewrap --fit-noise | cmp - words
	for clipped in "aclipped.nrrd bclipped.nrrd" "--max-value 190 a.nrrd b.nrrd"; do
		# shellcheck disable=SC2086
		camnoise $clipped >other
		py '
a, b = (dict(w[2:].split("=") for w in open(name).read().split()) for name in ("words", "other"))
expect(abs(float(b["gain"]) / float(a["gain"]) - 1) < 0.1, a, b)'
	done
	camnoise --quantum 4 pair.nrrd >other
	run ! cmp -s other words
	fails 1 "wants images two by two, not 3" camnoise three.nrrd
	fails 1 "wants images two by two, not 2 behind an odd one" camnoise a.nrrd pair.nrrd
	framecat --as float pair.nrrd -o float.nrrd
	fails 1 "give --quantum LEVELS, 0 for none" camnoise float.nrrd
	fails 2 "can only be the last stage" fringepipe camnoise a.nrrd b.nrrd , gauss
}
