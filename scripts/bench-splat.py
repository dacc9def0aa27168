"""Rows of `scripts/bench views`: splatxyz of two cameras behind one projector. BIN FOLDER ROUNDS. Sets come from
memory as far as the runner keeps them; the time of a set is that of many less that of one, over their number."""
import json
import os
import resource
import subprocess
import sys
import time

import numpy as np

CORES = len(os.sched_getaffinity(0))
SETS = 60
W, H = 640, 480


def rig(path):
    def turned(degrees):
        c, s = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
        R = np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]])
        return R, np.array([0, 0, 600]) - R @ [0, 0, 600]
    K = [[1216, 0, 319.5], [0, 1216, 239.5], [0, 0, 1]]
    (R, T), (Rp, Tp) = turned(30), turned(15)
    file = dict(K1=K, K2=K, R=R.tolist(), T_mm=T.tolist(), image_size=[W, H], camera_K=K,
                projector_K=[[1280, 0, 399.5], [0, 1280, 299.5], [0, 0, 1]], R_cam_to_proj=Rp.tolist(),
                T_cam_to_proj_mm=Tp.tolist(), projector_size=[800, 600])
    with open(path, "w") as out:
        json.dump(file, out)
    return Rp, Tp


def seconds(words, sets):
    """By the clock, and of all cores."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(words, check=True, env=dict(os.environ, FRINGEPIPE_REPEAT=str(sets)))
    clock, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return np.array([clock, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime])


def per_set(words, rounds):
    return np.min([seconds(words, SETS + 1) - seconds(words, 1) for _ in range(rounds)], 0) / SETS


def read(path):
    with open(path, "rb") as file:
        head, body = file.read().split(b"\n\n", 1)
    return np.frombuffer(body, "<f4").reshape(-1, H, W)


def numpy_splat(views, R, T, step, corner):
    """Nearest cell, all alike, no second surface: the least that is a splat."""
    cells, depth = np.zeros(W * H), np.zeros(W * H)
    for p in views:
        q = R @ p.reshape(3, -1)[:, ~np.isnan(p[0]).ravel()] + T[:, None]
        i, j = (np.rint((q[k] - corner[k]) / step).astype(int) for k in (0, 1))
        at = (i >= 0) & (i < W) & (j >= 0) & (j < H)
        where = j[at] * W + i[at]
        cells += np.bincount(where, minlength=W * H)
        depth += np.bincount(where, q[2][at], W * H)
    with np.errstate(invalid="ignore", divide="ignore"):
        return depth / cells


def main():
    tools, folder, rounds = sys.argv[1], sys.argv[2], min(int(sys.argv[3]), 3)
    R, T = rig(folder + "/splat.json")
    sides = "left", "right"
    for side in sides:
        truth = f"{folder}/true-{side}.nrrd"
        subprocess.run([tools + "/fringesim", "-q", "--calib", folder + "/splat.json", "--view", side, "--scene", "relief",
                        "--height", "50", "--shadow", "--truth", truth, "-o", "null:"], check=True)
        for channels in "x,y,z", "x,y,z,absphase:modulation,mask:texture":
            name = f"{folder}/splat{channels.count(',')}-{side}.nrrd"
            picked = ",".join(c.split(":")[0] for c in channels.split(","))
            subprocess.run([tools + "/framecat", "--channels", picked, "--set",
                            "channels=" + " ".join(c.split(":")[-1] for c in channels.split(",")), truth, "-o", name],
                           check=True)
    # the floor, as memory goes: 2 x 3 planes are read, 3 are written
    planes = np.ones((9, H, W), "f4")
    start = time.perf_counter()
    for _ in range(20):
        planes[:6].sum(), planes[6:].fill(1)
    floor = (time.perf_counter() - start) / 20
    print(f"{'floor: 2 x 3 planes read, 3 written':<46} {1 / floor:8.0f} sets/s", flush=True)
    for n, label in (2, "x y z"), (4, "with modulation and texture"):
        words = [tools + "/fringepipe", "-q", "-o", "null:", "splatxyz", "--splat", f"{W}x{H}", "--onto", "ortho", "--calib",
                 folder + "/splat.json", "--view", f"{folder}/splat{n}-right.nrrd", f"{folder}/splat{n}-left.nrrd"]
        clock, cpu = per_set(words, rounds)
        rate = CORES / cpu
        met = ["met" if r * 2 / CORES >= 150 else "missed" for r in (1 / clock, rate)]
        print(f"--splat 2 x {W}x{H}, {label:<27} {1 / clock:8.1f} sets/s, cores' {rate:8.1f}, bar 150 on two cores: "
              f"{met[0]}{'' if met[0] == met[1] else f' ({met[1]} by the cores)'}", flush=True)
    views = [read(f"{folder}/splat2-{side}.nrrd").astype(float) for side in sides]
    start = time.perf_counter()
    numpy_splat(views, R, T, 0.55, (-200, -140))
    print(f"{'  NumPy bincount, nearest cell':<46} {1 / (time.perf_counter() - start):8.1f} sets/s")
    print("  published: Karpinsky 2013, ch. 9: 30 sets/s of two cameras of 800x600, with everything from capture to the "
          "Holoimage of 512x512, GeForce GTX 690")


if __name__ == "__main__":
    main()
