"""The rows of `scripts/bench views` that measure: BIN FOLDER ROUNDS. fitshape beside SciPy's least_squares, framecmp
--to beside the distance from the mesh's points alone (cKDTree), in turns; the least of the rounds counts, by the
clock. Ours reads the file and starts a process, the peers' points are in memory."""
import json
import subprocess
import sys
import time

import numpy as np
from scipy.optimize import least_squares
from scipy.spatial import cKDTree

W, H = 640, 480


def write_points(path, p):
    lines = ["NRRD0004", "type: float", "dimension: 3", f"sizes: {W} {H} 3", "endian: little", "encoding: raw",
             "kinds: domain domain list", "channels:=x y z", "length_unit:=mm"]
    with open(path, "wb") as file:
        file.write(("\n".join(lines) + "\n\n").encode())
        file.write(np.ascontiguousarray(p.T, "<f4").tobytes())


def timed(work):
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def best(works, rounds):
    """The least time of each, taken in turns, and its last result."""
    seen = [[timed(work) for work in works] for _ in range(rounds)]
    return [(min(turn[i][0] for turn in seen), seen[-1][i][1]) for i in range(len(works))]


def ask(*words):
    return subprocess.run(words, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.decode()


def row(label, seconds):
    print(f"{label:<46} {seconds:8.3f} s", flush=True)


def shapes(tools, folder, rounds):
    rng = np.random.default_rng(1)
    z, a = rng.uniform(0.5, 1, W * H), rng.uniform(0, 2 * np.pi, W * H)
    s = np.sqrt(1 - z * z)
    p = [10, 20, 1000] + 100 * np.c_[s * np.cos(a), s * np.sin(a), -z] + rng.normal(0, 0.05, (W * H, 3))
    path = folder + "/ball.nrrd"
    write_points(path, p)
    x = p.astype("f4").astype(float)
    x -= x.mean(0)
    fit = [tools + "/fitshape", "sphere", "--json", path]

    def peer():
        return least_squares(lambda v: np.linalg.norm(x - v[:3], axis=1) - v[3], [0, 0, 50, 100], method="lm").x

    plain, robust, scipy = best([lambda: ask(*fit), lambda: ask(*fit, "--robust"), peer], rounds)
    row("fitshape sphere, 640x480 points", plain[0])
    row("fitshape sphere --robust", robust[0])
    row("  SciPy least_squares, plain", scipy[0])
    radius = json.loads(plain[1])["results"][0]["parts"][0]["radius"]
    print(f"  radius {radius:.7f}; the peer {scipy[1][3]:.7f}")


def distances(tools, folder, rounds):
    n = 400
    g = np.linspace(0, 200, n)
    x, y = np.meshgrid(g, g)
    v = np.stack([x, y, 8 * np.sin(x / 20) * np.cos(y / 15)], -1).reshape(-1, 3).astype("f4")
    k = np.arange(n * n, dtype="<i4").reshape(n, n)
    a, b, c, d = k[:-1, :-1].ravel(), k[:-1, 1:].ravel(), k[1:, :-1].ravel(), k[1:, 1:].ravel()
    faces = np.zeros(2 * len(a), [("n", "u1"), ("k", "<i4", 3)])
    faces["n"] = 3
    faces["k"] = np.concatenate([np.c_[a, b, d], np.c_[a, d, c]])
    with open(folder + "/part.ply", "wb") as file:
        file.write(("ply\nformat binary_little_endian 1.0\nelement vertex %d\nproperty float x\nproperty float y\n"
                    "property float z\nelement face %d\nproperty list uchar int vertex_indices\nend_header\n" %
                    (len(v), len(faces))).encode())
        file.write(v.tobytes() + faces.tobytes())
    rng = np.random.default_rng(2)
    p = np.c_[rng.uniform(5, 195, (W * H, 2)), np.zeros(W * H)]
    p[:, 2] = 8 * np.sin(p[:, 0] / 20) * np.cos(p[:, 1] / 15) + rng.normal(0, 0.05, W * H)
    path = folder + "/part.nrrd"
    write_points(path, p)
    compare = [tools + "/framecmp", "--to", folder + "/part.ply", path]
    ours, icp, peer = best([lambda: ask(*compare), lambda: ask(*compare, "--icp"),
                            lambda: cKDTree(v).query(p, workers=-1)[0]], rounds)
    row(f"framecmp --to, 640x480 points, {len(faces)} triangles", ours[0])
    row("framecmp --to --icp", icp[0])
    row("  SciPy cKDTree, to the mesh's points alone", peer[0])
    rms = next(line for line in ours[1].split("\n") if line.startswith("rms")).split()[1]
    print(f"  rms {rms} mm (noise 0.05); the peer's {np.sqrt((peer[1] ** 2).mean()):.3f}, its points are 0.5 mm apart")


def main():
    tools, folder, rounds = sys.argv[1], sys.argv[2], min(int(sys.argv[3]), 3)
    shapes(tools, folder, rounds)
    distances(tools, folder, rounds)


if __name__ == "__main__":
    main()
