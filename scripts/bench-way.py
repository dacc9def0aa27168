"""The part `way` of scripts/bench. bench-way.py FOLDER ROUNDS SETS: FOLDER holds rig, 640x480 and 800x600, folders
of six PNG each, and rig.json; what is written goes there and is removed. Times of processes are those that the kernel
counts for them (user and system), in turns; medians and quartiles."""
import glob
import os
import subprocess
import sys
import time

FURTHER = 10	# sets behind the first
PERIODS = "-p 60,63 -n 3"


def run(folder, words, repeat=None):
	"""Milliseconds of processor time and by the clock."""
	environment = dict(os.environ, **({"FRINGEPIPE_REPEAT": str(repeat)} if repeat else {}))
	start = time.monotonic()
	child = subprocess.Popen(["fringepipe", "-q", *words], env=environment)
	_, status, used = os.wait4(child.pid, 0)
	clock = time.monotonic() - start
	child.returncode = status
	for written in glob.glob(folder + "/written*"):
		os.unlink(written)
	if status:
		sys.exit("bench-way: fails: fringepipe " + " ".join(words))
	return 1000 * (used.ru_utime + used.ru_stime), 1000 * clock, used.ru_minflt


def spread(values):
	values = sorted(values)
	n = len(values)
	return values[n // 2], "%.2f ms (quartiles %.2f, %.2f)" % (values[n // 2], values[n // 4], values[3 * n // 4])


def single(folder, rounds, label, images, threads, chain):
	images = sorted(glob.glob(f"{folder}/{images}/*.png"))
	tail = [*f"{chain} --no-sync -o".split(), folder + "/written_%03d.ply"]
	own, further, fresh = [], [], 0

	def sets(n):
		return run(folder, [*threads, "phasewrap", *PERIODS.split(), *images * n, *tail])
	sets(1)
	for _ in range(rounds):
		ones = [sets(1) for _ in range(4)]
		own += [one[0] for one in ones]
		further.append((sets(1 + FURTHER)[0] - sum(one[0] for one in ones) / 4) / FURTHER)
		fresh = ones[-1][2]
	(a, one), (b, more) = spread(own), spread(further)
	print(f"{label:<38} {one}, {fresh} fresh pages; a further set {more}; {a / b:.2f} times")


def overlap(folder, rounds, sets):
	images = sorted(glob.glob(folder + "/800x600/*.png"))
	stages = ", gauss , unwrap2f , median , phase2depth --ref ideal , normals"
	chain = f"phasewrap --as vector {PERIODS}".split()
	run(folder, [*chain, *images, *stages.split(), "-o", folder + "/result.nrrd"])
	run(folder, ["framecat", *images, "-o", folder + "/images.nrrd"])
	tiff = ["--no-sync", "-o", folder + "/written_%03d.tif"]
	cases = {
		"decode": lambda: run(folder, ["-j", "1", "framecat", *images * sets, "-o", "null:"]),
		"compute": lambda: run(folder, ["-j", "1", *chain, folder + "/images.nrrd", *stages.split(), "-o", "null:"], sets),
		"write": lambda: run(folder, ["-j", "1", "framecat", folder + "/result.nrrd", *tiff], sets),
		"whole": lambda: run(folder, ["-j", "2", *chain, *images * sets, *stages.split(), *tiff]),
		"not written": lambda: run(folder, ["-j", "2", *chain, *images * sets, *stages.split(), "-o", "null:"])}
	seen = {name: [] for name in cases}
	for _ in range(rounds):
		for name, case in cases.items():
			seen[name].append(case())
	alone = {}
	for name in ("decode", "compute", "write"):
		alone[name], text = spread([s[0] for s in seen[name]])
		print(f"{name + ' alone, a thread, processor time':<38} {text}")
	for name, parts in (("whole", ("decode", "compute", "write")), ("not written", ("decode", "compute"))):
		clock, text = spread([s[1] for s in seen[name]])
		used, cores = spread([s[0] for s in seen[name]])
		floor = sum(alone[part] for part in parts) / 2
		print(f"{name + ', two threads, by the clock':<38} {text}; half of {' and '.join(parts)} alone {floor:.2f} ms; "
			f"{clock / floor:.2f} times; processor time {cores}, both cores busy {50 * used / clock:.0f} %")


def main():
	folder, rounds, sets = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
	points = f", gauss , unwrap2f , phase2depth --calib {folder}/rig.json"
	depth = ", unwrap2f , phase2depth --ref ideal"
	print("\nPNG to PLY, one set of six 640x480 in a process of its own, processor time")
	single(folder, rounds, "points of a rig, mesh", "rig", [], points)
	single(folder, rounds, "points of a rig, mesh, one thread", "rig", ["-j", "1"], points)
	single(folder, rounds, "depth, mesh", "640x480", [], depth)
	print(f"\n{sets} sets of six 800x600 PNG to TIFF of six channels")
	overlap(folder, rounds, sets)


main()
