#!/usr/bin/env python3
"""fringecal's joint solve beside OpenCV's and mrcal's: the same points, all weighted alike, none left out.

15 poses of 88 points for a camera and a projector (tests/boards.py). Prints processor seconds of one solve, the least
of five, and the largest difference of focal lengths, centres (px) and baseline (mm). With --table: their figures, as
tests/fringecal_peers.txt holds them. Peers (python3-opencv, python3-mrcal) that are absent are left out.
"""
import json
import os
import resource
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests"))
import numpy as np
from boards import Rig, corners, found, rotation, vector
from frames import read_frames

LENS = ["k1", "k2", "p1", "p2", "k3"]


def named(K1, d1, K2, d2, rotation_vector, T):
	out = {}
	for name, K, d in (("camera.", K1, d1), ("projector.", K2, d2)):
		out.update(zip([name + k for k in ["fx", "fy", "cx", "cy"]], [K[0, 0], K[1, 1], K[0, 2], K[1, 2]]))
		out.update(zip([name + k for k in LENS], np.ravel(d)))
	out.update(zip(["projector." + k for k in ["rx", "ry", "rz", "tx", "ty", "tz"]], [*rotation_vector, *np.ravel(T)]))
	return out


def processor(work):
	"""the least of five, and the result"""
	best = np.inf
	for _ in range(5):
		start = time.process_time()
		result = work()
		best = min(best, time.process_time() - start)
	return best, result


def opencv(points, sizes):
	import cv2
	cv2.setNumThreads(1)
	stop = (cv2.TERM_CRITERIA_COUNT + cv2.TERM_CRITERIA_EPS, 1000, 1e-14)
	board = [corners()[2].astype("f4")] * len(points[0])
	single = [cv2.calibrateCamera(board, p, s, None, None, criteria=stop) for p, s in zip(points, sizes)]

	def solve():
		return cv2.stereoCalibrate(board, *points, single[0][1].copy(), single[0][2].copy(), single[1][1].copy(),
			single[1][2].copy(), sizes[0], criteria=stop, flags=cv2.CALIB_USE_INTRINSIC_GUESS)
	seconds, s = processor(solve)
	return seconds, named(s[1], s[2], s[3], s[4], vector(s[5]), s[6]), single


def mrcal_joint(points, sizes, single, start):
	import mrcal
	poses = len(points[0])
	seen, index = np.ones((2 * poses, 8, 11, 3)), np.zeros((2 * poses, 3), np.int32)
	for k in range(poses):
		for c in range(2):
			seen[2 * k + c, :, :, :2] = points[c][k].reshape(8, 11, 2)
			index[2 * k + c] = k, c, c - 1
	lens = [[K[0, 0], K[1, 1], K[0, 2], K[1, 2], *d.ravel()] for K, d in ((s[1], s[2]) for s in single)]
	motion = [start["projector." + k] for k in ["rx", "ry", "rz", "tx", "ty", "tz"]]

	def solve():
		state = dict(intrinsics=np.array(lens), extrinsics_rt_fromref=np.array([motion]),
			frames_rt_toref=np.array([[*r.ravel(), *t.ravel()] for r, t in zip(single[0][3], single[0][4])]))
		mrcal.optimize(points=None, observations_point=None, indices_point_camintrinsics_camextrinsics=None,
			observations_board=seen.copy(), indices_frame_camintrinsics_camextrinsics=index,
			lensmodel="LENSMODEL_OPENCV5", imagersizes=np.array(sizes, np.int32), calibration_object_spacing=15.0,
			do_optimize_calobject_warp=False, do_apply_regularization=False, do_apply_outlier_rejection=False,
			verbose=False, **state)
		return state
	seconds, state = processor(solve)
	a, b = state["intrinsics"]
	rt = state["extrinsics_rt_fromref"][0]
	K = [np.array([[v[0], 0, v[2]], [0, v[1], v[3]], [0, 0, 1]]) for v in (a, b)]
	return seconds, named(K[0], a[4:], K[1], b[4:], vector(rotation(rt[:3])), rt[3:])


def ours(*options):
	words = ["fringecal", "--board", "11x8,15", "--projector", "1920x1080", "--projector-points", "projector.nrrd",
		*options, "camera.nrrd", "-o", "rig.json"]
	best = np.inf
	for _ in range(5):
		before = resource.getrusage(resource.RUSAGE_CHILDREN)
		subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
		after = resource.getrusage(resource.RUSAGE_CHILDREN)
		best = min(best, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
	return best, found("rig.json")[0]


def differ(a, b):
	px = max(abs(a[k] - b[k]) for k in a if k.split(".")[1] in ("fx", "fy", "cx", "cy"))
	baseline = [np.linalg.norm([v["projector." + k] for k in ("tx", "ty", "tz")]) for v in (a, b)]
	return "%.1e px, %.1e mm" % (px, abs(baseline[0] - baseline[1]))


def check_models():
	"""the largest difference of points projected by mrcal with our models, from ours, in px"""
	import mrcal
	from boards import project
	devices, worst = json.load(open("rig.json"))["devices"], 0
	X = np.random.default_rng(0).uniform(-80, 80, (1000, 3)) + [0, 0, 600]
	for name, d in devices.items():
		model, K = mrcal.cameramodel("models/%s.cameramodel" % name), np.array(d["K"])
		q = mrcal.project(mrcal.transform_point_rt(model.extrinsics_rt_fromref(), X / 1000), *model.intrinsics())
		ours = project(dict(K=K[[0, 1, 0, 1], [0, 1, 2, 2]], dist=d["dist"]), (X - d["T_mm"]) @ np.array(d["R"]))
		worst = max(worst, np.abs(q - ours).max())
	return worst


def main():
	os.chdir(tempfile.mkdtemp())
	Rig(seed=0).write("camera.nrrd", "projector.nrrd")
	sizes = [(1280, 1024), (1920, 1080)]
	points = [[np.ascontiguousarray(f.pixels[:2, 0].T) for f in read_frames(n + ".nrrd")]
		for n in ("camera", "projector")]
	peers, single = {}, None
	try:
		seconds, result, single = opencv(points, sizes)
		peers["OpenCV"] = seconds, result
	except ImportError:
		print("no python3-opencv", file=sys.stderr)
	try:
		if single:
			peers["mrcal"] = mrcal_joint(points, sizes, single, peers["OpenCV"][1])
	except ImportError:
		print("no python3-mrcal", file=sys.stderr)
	if "--table" in sys.argv:
		if len(peers) < 2:
			sys.exit("scripts/bench-calib.py: --table needs both peers")
		for k in peers["OpenCV"][1]:
			print(k, *("%.9f" % peers[p][1][k] for p in ("OpenCV", "mrcal")))
		return
	alike = ours("--weights", "equal", "--reject", "0", "--models", "models", "-f")
	models = check_models() if "mrcal" in peers else None
	print("%-52s %8s  %s" % ("joint solve, 15 poses x 88 points x 2 devices", "s", "off fringecal"))
	print("%-52s %8.3f" % ("fringecal, the whole program", ours()[0]))
	print("%-52s %8.3f" % ("fringecal --weights equal --reject 0", alike[0]))
	for name, (seconds, result) in peers.items():
		what = "cv2.stereoCalibrate, from single cameras" if name == "OpenCV" else "mrcal.optimize, from OpenCV"
		print("%-52s %8.3f  %s" % (what, seconds, differ(alike[1], result)))
	if models is not None:
		print("mrcal projects points by --models within %.1e px of rig.json's" % models)


main()
