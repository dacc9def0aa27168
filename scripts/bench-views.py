"""Rows of `scripts/bench views`: BIN FOLDER ROUNDS ROW. Each tool is run with and without the work in question, in turns
with its peer; the least of the rounds counts, by the clock and as the time of all cores over their number. Bars are of
the clock; where other programs run beside, the cores' time says what the clock would without them."""
import importlib.util
import json
import os
import subprocess
import sys
import time

import numpy as np
from scipy.spatial import cKDTree

CORES = len(os.sched_getaffinity(0))


def write_points(path, p):
    """3 x n as a table, 3 x h x w as an ordered frame."""
    table = p.ndim == 2
    w, h = (p.shape[1], 1) if table else (p.shape[2], p.shape[1])
    lines = ["NRRD0004", "type: float", "dimension: 3", f"sizes: {w} {h} 3", "endian: little", "encoding: raw",
             "kinds: domain domain list", "channels:=x y z"] + ([f"points:={w}"] if table else [])
    with open(path, "wb") as file:
        file.write(("\n".join(lines) + "\n\n").encode())
        file.write(np.ascontiguousarray(p, "<f4").tobytes())


# A process has the peak of the one that started it for its own: a small one starts the tools.
STARTER = """
import os, subprocess, sys, time
start = time.perf_counter()
child = subprocess.Popen(sys.argv[1:], stderr=subprocess.PIPE)
said = child.stderr.read()
_, status, used = os.wait4(child.pid, 0)
if status:
    sys.exit(said.decode())
print(time.perf_counter() - start, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)
"""


def run(words):
    """Seconds by the clock, of the cores, and the peak of memory in MB."""
    said = subprocess.run([sys.executable, "-c", STARTER] + words, check=True, stdout=subprocess.PIPE).stdout
    clock, cpu, peak = map(float, said.split())
    return np.array([clock, cpu / CORES, peak])


def timed(work):
    start, cpu = time.perf_counter(), time.process_time()
    work()
    return np.array([time.perf_counter() - start, (time.process_time() - cpu) / CORES, np.nan])


def row(label, least, bar=None, bar_mb=None):
    text = f"{label:<46} {least[0]:8.3f} s, cores' {least[1]:8.3f}"
    if not np.isnan(least[2]):
        text += f", {least[2]:5.0f} MB"
    if bar is not None:
        text += f", bar {bar:g} s: {'met' if least[0] <= bar else 'missed'}"
        if (least[0] <= bar) != (least[1] <= bar):
            text += f" ({'met' if least[1] <= bar else 'missed'} by the cores' time)"
    if bar_mb is not None:
        text += f", bar {bar_mb:g} MB: {'met' if least[2] <= bar_mb else 'missed'}"
    print(text, flush=True)


def best(works, rounds):
    """The least of each, taken in turns."""
    seen = [[work() for work in works] for _ in range(rounds)]
    return [np.min([turn[i] for turn in seen], 0) for i in range(len(works))]


def cloud(n):
    rng = np.random.default_rng(1)
    p = rng.uniform(-100, 100, (3, n))
    p[2] = 500 + 10 * np.sin(p[0] / 10) * np.cos(p[1] / 7) + rng.normal(0, 0.05, n)
    return p.astype("f4")


def numpy_grid(p, size):
    cube = np.floor(p / size).astype("i8")
    cube -= cube.min(1, keepdims=True)
    key = (cube[0] << 42) | (cube[1] << 21) | cube[2]
    _, first, of = np.unique(key, return_index=True, return_inverse=True)
    mean = np.array([np.bincount(of, v) / np.bincount(of) for v in p])
    return mean[:, np.argsort(first)]


def scipy_noise(p, k, n):
    d = cKDTree(p.T).query(p.T, k + 1, workers=-1)[0][:, 1:].mean(1)
    median = np.median(d)
    return p[:, d <= median + n * 1.4826 * np.median(np.abs(d - median))]


def grid(tools, folder, rounds):
    p = cloud(10 ** 7)
    path = folder + "/cloud.nrrd"
    write_points(path, p)
    plain = [tools + "/mergexyz", path, "-o", "null:"]
    for size in 0.5, 0.01:
        ours, reading, peer = best([lambda: run(plain + ["--grid", str(size)]), lambda: run(plain),
                                    lambda: timed(lambda: numpy_grid(p, size))], rounds)
        row(f"--grid {size}, 10^7 points", ours - [reading[0], reading[1], 0], 1, 500)
        row("  NumPy unique, bincount", peer)


def noise(tools, folder, rounds):
    p = cloud(10 ** 7)
    path, part = folder + "/cloud.nrrd", folder + "/part.nrrd"
    write_points(path, p)
    p = p[:, :10 ** 6]
    write_points(part, p)
    plain, filtered = [tools + "/mergexyz", "-o", "null:"], ["--noise", "8,5"]
    ours, reading, peer = best([lambda: run(plain + filtered + [part]), lambda: run(plain + [part]),
                                lambda: timed(lambda: scipy_noise(p.astype(float), 8, 5))], rounds)
    row("--noise 8,5, 10^6 points", ours - [reading[0], reading[1], 0])
    row("  SciPy cKDTree", peer)
    ours, reading = best([lambda: run(plain + filtered + [path]), lambda: run(plain + [path])], 1)
    row("--noise 8,5, 10^7 points", ours - [reading[0], reading[1], 0])


def rotation(vector):
    angle = np.linalg.norm(vector)
    k = vector / angle if angle else vector
    K = np.array([[0, -k[2], k[1]], [k[2], 0, -k[0]], [-k[1], k[0], 0]])
    return np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K


def normals_of(p):
    along, down = np.gradient(p, axis=2), np.gradient(p, axis=1)
    n = np.cross(along, down, axis=0)
    return n / np.linalg.norm(n, axis=0)


def scipy_icp(target, source, R, T):
    """Point to plane by a tree, every 4th pixel and then all, to the same steps."""
    n = normals_of(target).reshape(3, -1)
    q = target.reshape(3, -1)
    valid = ~np.isnan(n[0] + q[0])
    n, q = n[:, valid], q[:, valid]
    tree = cKDTree(q.T)
    for step in 4, 1:
        p0 = source[:, ::step, ::step].reshape(3, -1)
        p0 = p0[:, ~np.isnan(p0[0])]
        for _ in range(50):
            p = R @ p0 + T[:, None]
            _, i = tree.query(p.T, workers=-1)
            r = (n[:, i] * (q[:, i] - p)).sum(0)
            middle = np.median(r)
            keep = np.abs(r - middle) <= 3 * 1.4826 * np.median(np.abs(r - middle)) + 1e-6
            p, m, r = p[:, keep], n[:, i][:, keep], r[keep]
            center = p.mean(1)
            J = np.concatenate([np.cross(p - center[:, None], m, axis=0), m])
            x = np.linalg.solve(J @ J.T, J @ r)
            E = rotation(x[:3])
            R, T = E @ R, E @ (T - center) + center + x[3:]
            if np.linalg.norm(x[:3]) < 1e-6 * (30 if step > 1 else 1) and np.linalg.norm(x[3:]) < 1e-4 * (
                    30 if step > 1 else 1):
                break
    return R, T


def angle_between(A, B):
    D = A @ B.T
    return np.degrees(np.linalg.norm([D[2, 1] - D[1, 2], D[0, 2] - D[2, 0], D[1, 0] - D[0, 1]]) / 2)


def read_points(path, w, h):
    with open(path, "rb") as file:
        data = file.read()
    head, body = data.split(b"\n\n", 1)
    names = [line for line in head.decode().split("\n") if line.startswith("channels:=")][0][10:].split()
    v = np.frombuffer(body, "<f4").reshape(len(names), h, w)
    return np.stack([v[names.index(c)] for c in "xyz"]).astype(float)


def make_pair(tools, folder):
    """Two views 15 degrees apart, with noise, and how the second one goes to the first."""
    a = np.radians(15)
    R = np.array([[np.cos(a), 0, np.sin(a)], [0, 1, 0], [-np.sin(a), 0, np.cos(a)]])
    T = np.array([0, 0, 500]) - R @ [0, 0, 500]
    K = [[900, 0, 319.5], [0, 900, 239.5], [0, 0, 1]]
    rig = folder + "/pair.json"
    with open(rig, "w") as file:
        json.dump(dict(K1=K, K2=K, R=R.tolist(), T_mm=T.tolist(), image_size=[640, 480]), file)
    rng = np.random.default_rng(1)
    views = []
    for side in "left", "right":
        truth = f"{folder}/{side}-truth.nrrd"
        subprocess.run([tools + "/fringesim", "-q", "-s", "640x480", "--calib", rig, "--view", side, "--scene", "relief",
                        "--distance", "500", "--truth", truth, "-o", "null:"],
                       check=True)
        p = read_points(truth, 640, 480)
        if side == "right":
            p = np.einsum("ij,jhw->ihw", R, p) + T[:, None, None]
        p *= 1 + rng.normal(0, 0.05, p.shape[1:]) / np.linalg.norm(p, axis=0)
        views.append(p)
        write_points(f"{folder}/{side}.nrrd", p)
    return views, R, T


def icp(tools, folder, rounds):
    views, R, T = make_pair(tools, folder)
    E = rotation(np.radians(1) * np.array([0.36, 0.8, 0.48]))
    start = E @ R.T, E @ (-R.T @ T) + [0.6, 0, 0.8]
    with open(folder + "/start.txt", "w") as file:
        for i in range(3):
            print(*start[0][i], start[1][i], file=file)
    with open(folder + "/first.txt", "w") as file:
        print("1 0 0 0 0 1 0 0 0 0 1 0", file=file)
    found = [folder + "/found1.txt", folder + "/found2.txt"]
    # without --icp poses are compared: what only reads is another tool
    plain = [tools + "/framecat", folder + "/left.nrrd", folder + "/right.nrrd", "-o", "null:"]
    fit = [tools + "/mergexyz", folder + "/left.nrrd", "--view", folder + "/right.nrrd", "--pose", folder + "/first.txt",
           "--pose", folder + "/start.txt", "-o", "null:", "--icp", "--write-pose", found[0], "--write-pose", found[1]]
    peer_found = []
    ours, reading = best([lambda: run(fit), lambda: run(plain)], max(rounds, 5))
    peer, = best([lambda: timed(lambda: peer_found.append(scipy_icp(*views, *start)))], 1)
    row("--icp, 2 x 640x480, from 1 degree and 1 mm", ours - [reading[0], reading[1], 0], 0.15)
    row("  SciPy cKDTree, NumPy", peer)
    print(f"  off by {angle_between(np.loadtxt(found[1]).reshape(4, 4)[:3, :3], R.T):.5f} degrees; the peer by "
          f"{angle_between(peer_found[0][0], R.T):.5f}")


def opencv_colours(p, picture, K, R, T):
    """Projection, a depth buffer of the points, remap: what NumPy and OpenCV have at hand, with holes between points."""
    import cv2
    h, w = picture.shape[:2]
    flat = p.reshape(3, -1).T.astype(float)
    uv = cv2.projectPoints(flat, cv2.Rodrigues(R)[0], T, np.array(K, float), np.zeros(5))[0][:, 0]
    z = flat @ R[2] + T[2]
    at = np.rint(uv).astype(int)
    inside = (at >= 0).all(1) & (at[:, 0] < w) & (at[:, 1] < h) & np.isfinite(z)
    depth = np.full(h * w, np.inf)
    place = at[:, 1] * w + at[:, 0]
    np.minimum.at(depth, place[inside], z[inside])
    seen = inside.copy()
    seen[inside] = z[inside] <= depth[place[inside]] + 1
    colours = cv2.remap(picture, uv[:, 0].reshape(p.shape[1:]).astype("f4"), uv[:, 1].reshape(p.shape[1:]).astype("f4"),
                        cv2.INTER_LINEAR).astype("f4")
    colours[~seen.reshape(p.shape[1:])] = np.nan
    return colours


def texmap(tools, folder, rounds):
    """The left view's points with the right view's picture; OpenCV only where it is at hand (scripts/bench --peers)."""
    make_pair(tools, folder)
    rig, picture = folder + "/pair.json", folder + "/picture.png"
    with open(rig) as file:
        read = json.load(file)
    subprocess.run([tools + "/fringesim", "-q", "-s", "640x480", "--calib", rig, "--view", "right", "--scene", "relief",
                    "--distance", "500", "--height", "60", "--field", "300", "--paint", "checker", "--picture", "-o",
                    picture], check=True)
    p = read_points(folder + "/left-truth.nrrd", 640, 480)
    points = folder + "/left-points.nrrd"
    write_points(points, p)
    words = [tools + "/texmap", "--calib", rig, "--camera", "right", "--image", picture, "-o", "null:", points]
    works = [lambda: run(words), lambda: run(words + ["--supersample"]),
             lambda: run([tools + "/framecat", "-o", "null:", points])]
    if importlib.util.find_spec("cv2"):
        import cv2
        image = cv2.imread(picture)
        works.append(lambda: timed(lambda: opencv_colours(p, image, read["K2"], np.array(read["R"]), np.array(read["T_mm"]))))
    ours, fine, reading, *peer = best(works, rounds)
    reading[2] = 0
    row("texmap, 640x480 points and picture", ours - reading)
    row("texmap --supersample", fine - reading)
    if peer:
        row("  OpenCV projectPoints, remap, NumPy z-buffer", peer[0])


def main():
    tools, folder, rounds, name = sys.argv[1:]
    {"icp": icp, "texmap": texmap, "grid": grid, "noise": noise}[name](tools, folder, min(int(rounds), 3))


if __name__ == "__main__":
    main()
