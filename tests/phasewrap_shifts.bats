load helpers

# Captures of known shifts (degrees) and phase, with albedo and noise; found shifts against the true ones.
model='
import os, re
def scene(fringes=10.37, albedo=True, h=150, w=200):
	y, x = np.mgrid[:h, :w]
	phi = 2 * np.pi * fringes * x / w + 0.6 * np.sin(y / 40) + 0.3 * np.cos(x / 50)
	t = 0.4 + 0.6 * ((x // 37 + y // 29) % 2) * (1 - 0.3 * np.random.default_rng(1).random((h, w))) if albedo else 1 + 0 * x
	return 120 * t, 80 * t, phi

def usual(n):
	return [-120, 0, 120] if n == 3 else list(360 * np.arange(n) / n)

def jitter(n, by=20, seed=0):
	d = np.array(usual(n)) + np.random.default_rng(seed).uniform(-by, by, n)
	d[0] = usual(n)[0]
	return d

def capture(s, d, noise=1, change=lambda i, n: i):
	rng = np.random.default_rng(3)
	return [change(s[0] + s[1] * np.cos(s[2] + np.radians(v)), n) + noise * rng.normal(size=s[2].shape)
		for n, v in enumerate(d)]

def write(file, images, dtype="u1", **meta):
	write_frames(file, [Frame(np.clip(np.round(i), 0, 254).astype(dtype) if dtype == "u1" else i.astype(dtype),
		meta=meta) for i in images])

def off(found, d):
	return np.abs((np.array(found) - d + 180) % 360 - 180).max()

def found(file):
	return np.degrees(np.array(read_frame(file).meta["found_shift_rad"].split(), float))

def error(p, phi):
	return np.abs(np.angle(np.exp(1j * (p - phi))))
'

@test "shift auto: five steps and more within 0.1 degrees, on any albedo; three and four where it is even" {
	py "$model"'
for n in 3, 4, 5, 6, 8, 12: write("in%d.nrrd" % n, capture(scene(albedo=n > 4), jitter(n, seed=n)))'
	for n in 3 4 5 6 8 12; do
		silent phasewrap -n $n --shift auto in$n.nrrd -o out$n.nrrd 3>/dev/null
	done
	py "$model"'
for n in 3, 4, 5, 6, 8, 12:
	name = "out%d.nrrd" % n
	s = scene(albedo=n > 4); f = read_frame(name)
	expect(off(found(name), jitter(n, seed=n)) < 0.1, n, found(name), jitter(n, seed=n))
	z = np.angle(np.exp(1j * (f["phase"] - s[2]))) * s[1] / np.sqrt(1 + 1 / 12)
	expect(np.sqrt(np.nanmean(z ** 2)) < 1.3 * np.sqrt(2 / n), n, np.sqrt(np.nanmean(z ** 2)))
	expect("phasewrap --steps=%d --shift=auto" % n in f.meta["cmd.1"], f.meta)'
}

# Textures half as bright as the rest, once about the bound between fringes and none; stripes of half a fringe.
@test "shift auto: checks, stripes and mottled surfaces; stripes of five steps and eight too" {
	py "$model"'
y, x = np.mgrid[:150, :240]
for dark in 0.5, 0.4:
	surfaces = {"checks": np.where((x // 24 + y // 24) % 2, 1, dark), "stripes": np.where(x // 12 % 2, 1, dark),
		"mottled": dark - 0.3 + (1.3 - dark) * np.kron(np.random.default_rng(5).random((19, 30)), np.ones((8, 8)))[:150]}
	for surface, t in surfaces.items():
		for n in (3, 4, 5, 8) if surface == "stripes" else (3, 4):
			write("%d.%s.%s.nrrd" % (n, surface, dark),
				capture((120 * t, 80 * t, 2 * np.pi * x / 24 + 1), jitter(n, seed=n)))'
	for set in *.nrrd; do phasewrap -q -n "${set%%.*}" --shift auto "$set" -o "out.$set"; done
	py "$model"'
import glob
names = glob.glob("out.*")
expect(len(names) == 16, names)
for name in names:
	n = int(name[4])
	off_by = off(found(name), jitter(n, seed=n))
	print(name, off_by)
	expect(off_by < (0.8 if "mottled" in name else 0.15 if n < 5 else 0.1), name, off_by)'
}

# What is lit ends within the picture: the phases there are spread evenly all the same.
@test "shift auto: three and four on a disk, two disks, a spot of light, few fringes: right, and not a word" {
	py "$model"'
y, x = np.mgrid[:150, :240]
def disk(cx, cy, r): return (x - cx) ** 2 + (y - cy) ** 2 < r * r
for name, t in (("disk", disk(115, 76, 62)), ("two", disk(60, 75, 44) | disk(178, 72, 50)),
		("spot", np.exp(-((x - 120) ** 2 + (y - 75) ** 2) / 2 / 45 ** 2)), ("full", 1 + 0 * x)):
	for n in 3, 4:
		for fringes in 4.5, 9:
			phi = 2 * np.pi * fringes * x / (240 if name == "full" else 124) + 0.6
			write("%d.%s.%s.nrrd" % (n, name, fringes), capture((4 + 120 * t, 80 * t, phi), jitter(n, seed=n)))'
	for set in *.nrrd; do silent phasewrap -n "${set%%.*}" --shift auto --min-amplitude 5 "$set" -o "out.$set"; done
	py "$model"'
import glob
names = glob.glob("out.*")
expect(len(names) == 16, names)
for name in names:
	n = int(name[4])
	print(name, off(found(name), jitter(n, seed=n)))
	expect(off(found(name), jitter(n, seed=n)) < 0.25, name, off(found(name), jitter(n, seed=n)))'
}

# Few fringes on small parts, which no taper spreads evenly: the phase is smooth, and tells; where it cannot, a line comes.
@test "shift auto: three and four on a triangle, a cap, black lines, disks close together: right, or said" {
	py "$model"'
seeds = [0, 2] if sys.argv[1:] == ["all"] else [0]
y, x = np.mgrid[:150, :240]
def disk(cx, cy, r): return (x - cx) ** 2 + (y - cy) ** 2 < r * r
line = 2 * np.pi * x + 0.6
one = 1 + 0 * x
for name, t, phi in (("triangle", (y > 20) & (y < 130) & (abs(x - 120) < y - 20), line * 3.3 / 220),
		("full", one, line * 2.4 / 240), ("down", one, 2 * np.pi * y / 40),
		("waves", one, line * 4.5 / 240 + 0.3 * np.sin(x / 40) + 0.2 * np.sin(y / 15 + x / 30)),
		("grain", 0.2 + 0.8 * np.random.default_rng(8).random(x.shape), line * 4.2 / 240),
		("said.disks", disk(65, 75, 50) | disk(175, 75, 50), line * 2.2 / 100),
		("said.lines", np.where((x % 37 < 3) | (y % 37 < 3), 0.02, 1), line / 24),
		("short.lines", np.where((x % 30 < 3) | (y % 30 < 3), 0.02, 1), line / 30)):
	for n in 3, 4:
		for seed in seeds:
			write("%d.%d.%s.nrrd" % (n, seed, name), capture((4 + 120 * t, 80 * t, phi), jitter(n, seed=seed)))' "${SHIFTS_SETS-}"
	for set in *.nrrd; do
		phasewrap -n "${set%%.*}" --shift auto --min-amplitude 5 "$set" -o "out.$set" 2>"$set.messages"
		case $set in
		*.said.*) has "are uncertain by" <"$set.messages" ;;
		*.short.*) has "no lit part of the picture has a fringe and more across" <"$set.messages" ;;
		*) [ ! -s "$set.messages" ] ;;
		esac
	done
	py "$model"'
import glob
names = [name for name in glob.glob("out.*") if "short" not in name]
expect(len(names) == (28 if sys.argv[1:] == ["all"] else 14), names)
for name in names:
	n, seed = int(name[4]), int(name[6])
	off_by = off(found(name), jitter(n, seed=seed))
	print(name, off_by)
	expect(off_by < (0.3 if "waves" in name else 0.2), name, off_by)' "${SHIFTS_SETS-}"
}

@test "shift auto: exact without noise, two periods, both senses, 16 bits and float, any number of threads" {
	py "$model"'
s = scene(); t = (s[0], s[1], s[2] * 0.9)
images = capture(s, jitter(5), 0) + capture(t, jitter(5, seed=2), 0)
write("f.nrrd", images, "f4")
write("u.nrrd", [i * 200 for i in images], "<u2")
write("minus.nrrd", capture((s[0], s[1], -s[2]), -jitter(5), 0) + capture((t[0], t[1], -t[2]), -jitter(5, seed=2), 0), "f4")'
	for f in f u; do
		silent phasewrap -n 5 -p 20,22 --shift auto $f.nrrd -o $f.out.nrrd
	done
	# I = A + B cos(-phi - d): the same images, whose phase runs the other way
	silent phasewrap -n 5 -p 20,22 --shift auto --sign -1 minus.nrrd -o minus.out.nrrd
	py "$model"'
s, d = scene(), np.concatenate([jitter(5), jitter(5, seed=2)])
for name, limit in ("f.out.nrrd", 1e-3), ("u.out.nrrd", 5e-3):
	f = read_frame(name)
	expect(off(found(name), d) < limit, found(name) - d)
	expect(error(f["phase1"], s[2]) < 1e-2, error(f["phase1"], s[2]).max())
	expect(error(f["phase2"], s[2] * 0.9) < 1e-2)
f = read_frame("minus.out.nrrd")
expect(off(found("minus.out.nrrd"), d) < 1e-3, found("minus.out.nrrd"))
expect(error(f["phase1"], -scene()[2]) < 1e-2)'
	fringepipe -j 1 phasewrap -n 5 -p 20,22 --shift auto u.nrrd -o one.nrrd
	fringepipe -j 3 phasewrap -n 5 -p 20,22 --shift auto u.nrrd -o three.nrrd
	cmp one.nrrd three.nrrd
}

# A lamp that flickers by 2 %: the line says by how much the shifts are off at most.
@test "shift auto: light that differs from image to image counts in the uncertainty of five images and more" {
	py "$model"'
for n in 5, 6, 8, 12:
	for seed in 1, 2, 3:
		light = 1 + np.random.default_rng(seed).normal(0, 0.02, n)
		write("in.%d.%d.nrrd" % (n, seed), capture(scene(), jitter(n, 5, seed), change=lambda i, k: i * light[k]))'
	for set in in.*.nrrd; do
		phasewrap -v -n "$(cut -d. -f2 <<<"$set")" --shift auto "$set" -o "out.${set#in.}" 2>"${set#in.}.messages"
	done
	py "$model"'
rows = []
for n in 5, 6, 8, 12:
	for seed in 1, 2, 3:
		name = "%d.%d.nrrd" % (n, seed)
		words = open(name + ".messages").read()
		claimed = float(re.search(r" by the pixels and up to ([0-9.e+]+) by the light,", words)[1])
		f = found("out." + name)
		rows.append((n, seed, off(f - f[0], jitter(n, 5, seed) - usual(n)[0]), claimed))
		expect(claimed < 0.6 or "differ in brightness" in words or "uncertain" in words, words)
print(*rows, sep="\n")
covered = [r[2] < r[3] for r in rows]
expect(sum(covered) >= 11, sum(covered), rows)
expect(all(r[3] < 10 * r[2] for r in rows) and max(r[2] for r in rows) > 1, rows)'
}

@test "shift auto: wrong starting points, exchanged images, half a dark field, brightness that drifts" {
	py "$model"'
s = scene()
cases = {"wild": [0, 200, 40, 130, 300, 260], "exchanged": [0, 60, 180, 120, 240, 300], "same": [0, 60, 60, 180, 240, 300],
	"dark": jitter(6), "drift": jitter(6)}
for name, d in cases.items():
	t = s
	if name == "dark":
		y, x = np.mgrid[:150, :200]
		t = (s[0] * (x > 90) + 4, s[1] * (x > 90), s[2])
	write(name + ".nrrd", capture(t, d, change=(lambda i, n: i + 2 * n) if name == "drift" else lambda i, n: i))
	print(name, *d, file=open(name + ".true", "w"))'
	for name in wild exchanged same dark drift; do
		phasewrap -n 6 --shift auto $name.nrrd -o $name.out.nrrd 2>$name.messages
	done
	[ ! -s exchanged.messages ]
	has "differ in brightness by .* %, as a whole" <drift.messages
	# the shifts that are given choose the sense
	py "$model"'
write("back.nrrd", capture(scene(), [0, -45, -130, -200, -290]))'
	phasewrap -n 5 --shift auto back.nrrd -o out.nrrd
	py "$model"'
for name in "wild", "exchanged", "same", "dark", "drift":
	d = np.array(open(name + ".true").read().split()[1:], float)
	got = found(name + ".out.nrrd")
	if name == "wild": got *= 1 if off(got, d) < 1 else -1	# nothing tells the sense
	expect(off(got, d) < 0.1, name, got, d)
expect(off(found("out.nrrd"), np.array([0, 45, 130, 200, 290])) < 0.1)'
}

@test "shift auto: what no images tell is refused, or said" {
	py "$model"'
write("few.nrrd", capture(scene(0.45), jitter(5)))
write("few3.nrrd", capture(scene(0.45), jitter(3)))
write("alike.nrrd", capture(scene(), [0, 0, 0, 0]))
write("opposite.nrrd", capture(scene(), [0, 180, 0, 180, 0]))
write("pair.nrrd", capture(scene(), [0, 30, 0]))
write("noise.nrrd", [100 + 3 * np.random.default_rng(i).normal(size=(90, 120)) for i in range(6)])
write("black.nrrd", [np.zeros((90, 120)) for i in range(6)])
write("tiny.nrrd", [np.full((1, 1), 100.0 + i % 3) for i in range(5)])
write("swap.nrrd", capture(scene(), [0, 180, 90, 270]))
write("one.nrrd", capture(scene(1.3), jitter(4)))
write("fine.nrrd", capture(scene(), jitter(5)))'
	for n in 5 3; do
		f=few.nrrd
		[ $n = 5 ] || f=few3.nrrd
		fails 1 "leave a part of the circle out: of less than a fringe nothing tells the shifts from the phase" \
			phasewrap -n $n --shift auto $f -o out.nrrd
	done
	fails 1 "tell no shifts" phasewrap -n 4 --shift auto alike.nrrd -o out.nrrd
	fails 1 "tell no shifts" phasewrap -n 5 --shift auto opposite.nrrd -o out.nrrd
	fails 1 "tell no shifts" phasewrap -n 3 --shift auto pair.nrrd -o out.nrrd
	fails 1 "--shift" phasewrap -n 6 --shift auto noise.nrrd -o out.nrrd
	fails 1 "tell no shifts" phasewrap -n 6 --shift auto black.nrrd -o out.nrrd
	fails 1 "--shift" phasewrap -n 5 --shift auto tiny.nrrd -o out.nrrd
	[ ! -e out.nrrd ]
	run phasewrap -n 4 --shift auto swap.nrrd -o out.nrrd
	[[ $output == *"as near to the expected ones in one sense as in the other"* ]]
	run phasewrap -n 4 --shift auto one.nrrd -o out.nrrd
	[[ $output == *"are uncertain by"*"five different ones and more tell better"* ]]
	fails 2 "auto is for --kind step" phasewrap -k 2+1 --shift auto fine.nrrd
	fails 2 "auto is for --kind step" phasewrap -k gray -G 5 --shift auto fine.nrrd
	fails 2 "auto is for one exposure" phasewrap -n 5 --exposures 2 --shift auto fine.nrrd
	fails 2 "wants numbers" phasewrap -n 5 --shift auto,72 fine.nrrd
	fails 2 "wants numbers" phasewrap -n 5 --shift automatic fine.nrrd
	run phasewrap -v -n 5 --shift auto fine.nrrd -o out.nrrd
	[[ $output == *"found the shifts 0.00 "*" degrees, +- 0.0"*" rounds"* ]]
}

@test "shift auto: several measurements, each with its own shifts; metadata's shifts are where it begins" {
	py "$model"'
write("in.nrrd", sum([capture(scene(), jitter(5, seed=k)) for k in range(3)], []))'
	phasewrap -n 5 --shift auto in.nrrd -o out.nrrd
	py "$model"'
frames = read_frames("out.nrrd")
for k, f in enumerate(frames):
	d = np.degrees(np.array(f.meta["found_shift_rad"].split(), float))
	expect(off(d, jitter(5, seed=k)) < 0.1, k, d)
expect(len(frames) == 3)'
	fringesim -s 160x120 -n 5 -p 20 --shift 0,80,140,210,290 --scene tilt --noise 1 --truth truth.nrrd |
		phasewrap --shift auto -o sim.nrrd
	py "$model"'
f, t = read_frame("sim.nrrd"), read_frame("truth.nrrd")
expect(off(found("sim.nrrd"), np.array([0, 80, 140, 210, 290])) < 0.2, found("sim.nrrd"))
e = error(f["phase"], t["absphase"])
expect(np.nanmean(e) < 0.02, np.nanmean(e))'
}

# SHIFTS_SETS=all: all twelve, as every night.
@test "shift auto: three of twelve real images: their uncertainty covers what all twelve tell" {
	need_data slmaster_eye_12step_gray
	eye=$data/slmaster_eye_12step_gray triples=(0 4 7)
	[ -z "${SHIFTS_SETS-}" ] || triples=({0..11})
	for k in "${triples[@]}"; do
		phasewrap -v -n 3 --shift auto "$eye/phase_$(printf %02d $k).png" "$eye/phase_$(printf %02d $(((k + 1) % 12))).png" \
			"$eye/phase_$(printf %02d $(((k + 2) % 12))).png" -o out$k.nrrd 2>messages$k
		has "are uncertain by" <messages$k
	done
	phasewrap -v -n 3 --shift auto "$eye"/phase_0[048].png -o wide.nrrd 2>wide.messages
	[ "$(grep -c uncertain wide.messages)" = 0 ]
	# five next to each other lie on a third of the circle, which tells no ellipse: 7 to 15 degrees off
	for k in 0 5; do
		fails 1 "no five shifts that are different enough" phasewrap -n 5 --shift auto "$eye/phase_0"[$k-$((k + 4))].png
	done
	phasewrap -v -n 8 --shift auto "$eye"/phase_0[0-7].png -o eight.nrrd 2>eight.messages
	EYE=$eye py '
import os, re
from PIL import Image
v = np.stack([np.asarray(Image.open(os.environ["EYE"] + "/phase_%02d.png" % i), float)[::3, ::3].ravel() for i in range(12)])
v = v[:, (v.max(0) < 249) & (v.std(0) > 10)]
step = np.radians(30) * np.arange(12)
level, size, shift = np.ones(12), np.ones(12), step.copy()
for _ in range(60):	# light, amplitude and shift of each image, and the fringes of each pixel, in turns
	model = np.stack([level, size * np.cos(shift), -size * np.sin(shift)], 1)
	fringes = np.linalg.lstsq(model, v, rcond=None)[0]
	a, c, s = np.linalg.lstsq(fringes.T, v.T, rcond=None)[0]
	level, size, shift = a / a.mean(), np.hypot(c, s) / np.hypot(c, s).mean(), np.arctan2(-s, c)
	shift = step + np.angle(np.exp(1j * (shift - step))) - np.angle(np.exp(1j * (shift - step))).mean()
def check(f, messages, images):
	found = np.array([float(x) for x in f.meta["found_shift_rad"].split()])
	claimed = float(re.search(r"(?:degrees, \+-| and up to) ([0-9.e+]+)(?:,| by the light)", open(messages).read())[1])
	off = np.degrees(np.angle(np.exp(1j * (found - found[0] - shift[images] + shift[images[0]]))))
	print(images, off, claimed)
	expect(np.abs(off).max() < claimed, images, off, claimed)
for k in map(int, sys.argv[1:]):
	check(read_frames("out%d.nrrd" % k)[0], "messages%d" % k, [k, (k + 1) % 12, (k + 2) % 12])
check(read_frames("wide.nrrd")[0], "wide.messages", [0, 4, 8])
check(read_frames("eight.nrrd")[0], "eight.messages", list(range(8)))' "${triples[@]}"
}

@test "shift auto: real captures: eight steps of 45 degrees, four of 90" {
	need_data dtu_angel_2freq_rectified
	for f in left/f40 right/f41; do
		phasewrap -n 8 --shift auto --min-amplitude 5 "$data"/dtu_angel_2freq_rectified/"$f"_*.png -o out.nrrd
		py "$model"'
expect(off(found("out.nrrd"), np.arange(8) * 45) < 1, found("out.nrrd"))'
	done
	need_data hagen_lens_4step
	phasewrap -n 4 --shift auto --min-amplitude 7 "$data"/hagen_lens_4step/lens_orig_*.jpg -o out.nrrd
	py "$model"'
expect(off(found("out.nrrd"), np.arange(4) * 90) < 0.5, found("out.nrrd"))'
}

@test "double three-step: the second harmonic cancels to first order; what six steps make of the same images" {
	py "$model"'
p = ((np.arange(12000) + 0.5) / 12000 * 2 * np.pi - np.pi).reshape(60, 200)
d = [-120, 0, 120, -60, 60, 180]
def light(h, k): return [127 + 100 * np.cos(p + np.radians(v)) + h * np.cos(k * (p + np.radians(v))) for v in d]
write("h2.nrrd", light(5, 2), "f4")
write("h4.nrrd", light(5, 4), "f4")
write("h5.nrrd", light(5, 5), "f4")
write("g22.nrrd", [255 * ((127 + 100 * np.cos(p + np.radians(v))) / 255) ** 2.2 for v in d], "f4")
write("clean.nrrd", light(0, 1), "f4")'
	for f in h2 h4 h5 g22 clean; do
		silent phasewrap -k double -p 20 $f.nrrd -o $f.double.nrrd
		silent phasewrap -n 6 -p 20 --shift=-120,0,120,-60,60,180 $f.nrrd -o $f.six.nrrd
	done
	py "$model"'
p = ((np.arange(12000) + 0.5) / 12000 * 2 * np.pi - np.pi).reshape(60, 200)
def rms(f): return np.sqrt(np.mean(error(read_frame(f)["phase"], p) ** 2)) * 1e3
seen = {f: (rms(f + ".double.nrrd"), rms(f + ".six.nrrd")) for f in ("h2", "h4", "h5", "g22", "clean")}
# closed form: the two halves e^(i phi) +- b e^(-2 i phi), b = 0.05: their mean angle
z = [np.exp(1j * p) + b * np.exp(-2j * p) for b in (0.05, -0.05)]
mean = np.angle(sum(v / abs(v) for v in z) * np.exp(-1j * p))
expect(abs(seen["h2"][0] - np.sqrt(np.mean(mean ** 2)) * 1e3) < 1e-3 and abs(seen["h2"][0] - 0.884) < 1e-3, seen)
expect(seen["h2"][1] < 1e-3 and seen["h4"][1] < 1e-3 and abs(seen["h4"][0] - 0.884) < 2e-3, seen)
expect(abs(seen["h5"][0] - 35.37) < 0.01 and abs(seen["h5"][1] - 35.37) < 0.01, seen)
expect(18 < seen["g22"][0] < 19 and seen["g22"][1] < 0.07, seen)
expect(seen["clean"][0] < 1e-3 and seen["clean"][1] < 1e-3, seen)
f = read_frame("clean.double.nrrd")
expect(np.abs(f["modulation"] - 100 / 127) < 1e-5)
expect(np.abs(f["texture"] - 227) < 1e-3)
expect(f.names == ["phase", "modulation", "texture"] and f.meta["steps"] == "6", f.meta)'
}

@test "double three-step: six images with any shifts of that kind, two periods, Gray planes, vectors, mistakes" {
	# six steps of 60 degrees are two sets of three, too; images of their own
	fringesim -s 160x120 -n 6 -p 20,23 --gray half --noise 1 --truth truth.nrrd -o caps.nrrd
	silent phasewrap -k double --min-amplitude 5 caps.nrrd -o out.nrrd
	phasewrap -k double --min-amplitude 5 --as vector --fit-residual caps.nrrd -o vector.nrrd
	py "$model"'
f, t, v = read_frame("out.nrrd"), read_frame("truth.nrrd"), read_frame("vector.nrrd")
expect(f.names == ["phase1", "phase2", "modulation", "texture", "index"], f.names)
for name, ratio in ("phase1", 1), ("phase2", 20 / 23):
	e = error(f[name], t["absphase"] * ratio)
	expect(abs(np.sqrt(np.nanmean(e ** 2)) / (np.sqrt(2 / 6 * (1 + 1 / 12)) / 100) - 1) < 0.05, np.sqrt(np.nanmean(e ** 2)))
expect(np.nanmax(np.abs(error(np.arctan2(v["sin1"], v["cos1"]), f["phase1"]))) < 1e-6)
expect(abs(np.nanmean(v["fit_residual"]) - 0.01) < 0.005)'
	unwrap2f --by gray out.nrrd -o abs.nrrd 2>/dev/null || unwrap2f out.nrrd -o abs.nrrd
	py "$model"'
f, t = read_frame("abs.nrrd"), read_frame("truth.nrrd")
expect(np.nanmax(np.abs(f["absphase"] - t["absphase"])) < 0.2)'
	fringesim -s 40x30 -n 5 -p 20 -o five.nrrd
	fringesim -s 40x30 -n 6 -p 20 --shift 0,60,120,180,240,290 -o uneven.nrrd
	fringesim -s 40x30 -k 2+1 -p 20 -o sines.nrrd
	fails 1 "double wants two sets of three steps of 120 degrees" phasewrap -k double five.nrrd -o no.nrrd
	fails 1 "double wants two sets of three steps of 120 degrees" phasewrap -k double uneven.nrrd -o no.nrrd
	fails 1 "double wants six images" phasewrap -k double sines.nrrd -o no.nrrd
	[ ! -e no.nrrd ]
	fails 2 "double three-step images are 6, not 5" phasewrap -k double -n 5 five.nrrd
	fails 2 "double three-step images are 6, not 3" phasewrap -k double --shift 0,120,240 five.nrrd
	fails 2 "auto is for --kind step" phasewrap -k double --shift auto caps.nrrd
	fails 2 "is for --kind step and 2+1" phasewrap -k double --exposures 2 caps.nrrd
	fails 2 "is for --kind step and 2+1" phasewrap -k double --saturated solve caps.nrrd
}

@test "phasewrap: which harmonics N steps let through, as the man page's table says" {
	py "$model"'
p = ((np.arange(4000) + 0.5) / 4000 * 2 * np.pi - np.pi).reshape(20, 200)
for n in range(3, 13):
	rows = []
	for k in range(2, 12):
		rows += [127 + 100 * np.cos(p + np.radians(d)) + 5 * np.cos(k * (p + np.radians(d))) for d in usual(n)]
	rows += [127 + 100 * np.sign(np.cos(p + np.radians(d))) for d in usual(n)]
	for g in (1.5, 2.2): rows += [255 * ((127 + 100 * np.cos(p + np.radians(d))) / 255) ** g for d in usual(n)]
	write("n%d.nrrd" % n, rows, "f4")'
	for n in 3 4 5 6 7 8 9 10 11 12; do
		phasewrap -q -n $n n$n.nrrd -o out$n.nrrd 2>/dev/null
	done
	man_page=$top/man/fringepipe-phase.7
	sed -n '/^ N  *square /,/^\.Ed/p' "$man_page" | grep '^ *[0-9]' >table
	[ "$(wc -l <table)" -eq 10 ]
	py "$model"'
p = ((np.arange(4000) + 0.5) / 4000 * 2 * np.pi - np.pi).reshape(20, 200)
for line in open("table"):
	words = line.split()
	n = int(words[0])
	e = [1e3 * np.sqrt(np.mean(error(f["phase"], p) ** 2)) for f in read_frames("out%d.nrrd" % n)]
	for k, seen in zip(range(2, 12), e[:10]):
		passes = k % n in (1, n - 1)
		expect(abs(seen - 0.05 / np.sqrt(2) * 1e3) < 0.1 if passes else seen < 0.01, n, k, seen)
	for word, seen in zip(words[1:], e[10:]):
		expect(abs(seen - float(word)) <= max(0.02 * seen, 0.006), n, word, seen)'
}
