#!/usr/bin/python3
"""What scripts/bench times beside fringepipe: the same work as a competent user of NumPy, OpenCV and
scikit-image writes it. Debian's python3-opencv and python3-skimage.

peers.py WORK FRAMES THREADS IMAGES.nrrd    milliseconds per frame, by the clock and of all
                                            cores; the input is in memory already
peers.py turns IN.nrrd LEVELS OUT.nrrd      a picture whose levels are a turn as a wrapped phase in rad
peers.py map SIZE NOISE OUT.nrrd            a wrapped phase of ten fringes with normal noise, in rad; inf: noise
peers.py laser SIZE N OUT.nrrd              images of a laser line
peers.py corners PICTURE.nrrd FOUND.nrrd TRUTH.nrrd
                                            what ours and OpenCV's corners are off
peers.py check IMAGES.nrrd DEPTH.nrrd       rms difference of the chain's depth from ours, and its unit
"""
import json
import os
import sys
import tempfile
import time

import cv2
import numpy as np

TURN = 2 * np.pi
TYPES = {"uchar": np.uint8, "ushort": np.uint16, "float": np.float32}


def read_nrrd(path):
    """All planes of all frames, and the fields and keys of the first frame."""
    data, at, planes, first = open(path, "rb").read(), 0, [], None
    while at < len(data):
        end = data.index(b"\n\n", at)
        head = data[at:end].decode().split("\n")
        fields = dict(line.split(": ", 1) for line in head if ": " in line)
        first = first or {**fields, **dict(line.split(":=", 1) for line in head if ":=" in line)}
        size = [int(word) for word in fields["sizes"].split()][::-1]
        frame = np.frombuffer(data, TYPES[fields["type"]], int(np.prod(size)), end + 2)
        planes += list(frame.reshape([-1] + size[-2:]))
        at = end + 2 + frame.nbytes
    return planes, first


def numbers(keys, name):
    return [float(word) for word in keys[name].split()]


class Rig:
    """What is known of the measurement before its images come."""

    def __init__(self, images, keys):
        h, w = images[0].shape
        a, b, c = numbers(keys, "ref_plane_rad")
        self.plane = np.float32(a + b * np.arange(w) + c * np.arange(h)[:, None])
        self.mm_per_rad = np.float32(keys["c_mm_per_rad"])
        self.pixel_mm = np.float32(keys["spacings"].split()[0])
        self.periods = 60, 63       # as scripts/bench simulates


# ---- the chain ----

def wrap(images):
    """Three steps of -120, 0, 120 degrees: sine, cosine, both times the amplitude."""
    a, b, c = (image.astype(np.float32) for image in images)
    return np.float32(3 ** 0.5) * (a - c), 2 * b - a - c


def smooth(sine, cosine):
    """Wrapped phase, its sine and cosine filtered by 11 x 11."""
    phase = np.arctan2(sine, cosine)
    return np.arctan2(cv2.GaussianBlur(np.sin(phase), (11, 11), 11 / 6),
                      cv2.GaussianBlur(np.cos(phase), (11, 11), 11 / 6))


def smooth_fast(sine, cosine):
    """Without arctangent and sine before the filter; OpenCV's arctangent errs by 7e-5 rad (rms)."""
    amplitude = cv2.magnitude(sine, cosine)
    blurred = cv2.GaussianBlur(cv2.merge([cv2.divide(cosine, amplitude), cv2.divide(sine, amplitude)]),
                               (11, 11), 11 / 6)
    return cv2.phase(*cv2.split(blurred))


def unwrap(phase1, phase2, rig):
    """Absolute phase of the first period."""
    t1, t2 = rig.periods
    beat = np.mod(phase1 - phase2, np.float32(TURN))
    turns = np.rint((beat * np.float32(t2 / (t2 - t1)) - phase1) * np.float32(1 / TURN))
    return phase1 + turns * np.float32(TURN)


def median5(phase):
    """Median of five in a row, by minima and maxima; OpenCV's takes squares only."""
    wide = cv2.copyMakeBorder(phase, 0, 0, 2, 2, cv2.BORDER_REFLECT_101)
    a, b, c, d, e = (wide[:, i:i + phase.shape[1]] for i in range(5))
    low1, high1 = cv2.min(a, b), cv2.max(a, b)
    low2, high2 = cv2.min(c, d), cv2.max(c, d)
    low, high = cv2.max(low1, low2), cv2.min(high1, high2)
    return cv2.max(cv2.min(low, high), cv2.min(cv2.max(low, high), e))


def unspike(phase):
    turns = np.rint((phase - median5(phase)) * np.float32(1 / TURN))
    return phase - turns * np.float32(TURN)


def normals(depth, rig):
    """Of central differences; ours averages eight cross products."""
    dx = cv2.Sobel(depth, cv2.CV_32F, 1, 0, ksize=1, scale=0.5 / rig.pixel_mm)
    dy = cv2.Sobel(depth, cv2.CV_32F, 0, 1, ksize=1, scale=0.5 / rig.pixel_mm)
    scale = 1 / np.sqrt(dx * dx + dy * dy + 1)
    return -dx * scale, -dy * scale, scale


def chain(images, rig, smoothing=smooth):
    phases = [smoothing(*wrap(images[i:i + 3])) for i in (0, 3)]
    depth = (unspike(unwrap(*phases, rig)) - rig.plane) * rig.mm_per_rad
    return depth, normals(depth, rig)


# ---- single works: each gives a function of no arguments that does one frame ----

def numpy_chain(images, rig):
    return lambda: chain(images, rig)


def fast_chain(images, rig):
    return lambda: chain(images, rig, smooth_fast)


def numpy_wrap(images, rig):
    return lambda: [np.arctan2(*wrap(images[i:i + 3])) for i in (0, 3)]


def blur_vectors(images, rig):
    planes = [plane for i in (0, 3) for plane in wrap(images[i:i + 3])]
    return lambda: [cv2.GaussianBlur(plane, (11, 11), 11 / 6) for plane in planes]


def sinusoidal(images, rig):
    """OpenCV's three-step phase shifting, of one period. Its images are its own: only the time counts."""
    parameters = cv2.structured_light_SinusoidalPattern_Params()
    parameters.methodId = cv2.structured_light.PSP
    parameters.shiftValue = float(TURN / 3)
    parameters.setMarkers = False
    pattern = cv2.structured_light.SinusoidalPattern_create(parameters)
    return lambda: pattern.computePhaseMap(images[:3])


def fourier(images, rig):
    """A phase of the first image, whose fringes are taken to be of 60 px: no search, no borders, no modulation."""
    image = images[0]
    h, w = image.shape
    across, down = np.fft.rfftfreq(w)[None], np.fft.fftfreq(h)[:, None]
    u = np.clip(np.hypot(across - 1 / 60, down) * 60 / 0.75, 0.5, 1)
    window = ((1 + np.cos(np.pi * (2 * u - 1))) / 2).astype(np.float32)

    def once():
        spectrum = np.zeros((h, w), complex)
        spectrum[:, :window.shape[1]] = np.fft.rfft2(image) * window
        return np.angle(np.fft.ifft2(spectrum))
    return once


def fourier_alike(images, rig):
    """What phasewrap -k fourier gives: the period found in the spectra of tiles, borders gone on with (mirrored, which
    turns the phase round), phase, modulation and texture, by SciPy's transforms of floats."""
    from scipy import fft, ndimage
    image = images[0]
    h, w = image.shape
    tile_h, tile_w = min(h, 512), min(w, 512)
    fade = np.outer(*(np.sin(np.pi * (np.arange(n) + 0.5) / n) ** 2 for n in (tile_h, tile_w))).astype(np.float32)
    places = [np.unique(np.linspace(0, n - t, min(-(-n // t), 3)).astype(int)) for n, t in ((h, tile_h), (w, tile_w))]
    fx, fy = fft.rfftfreq(tile_w)[None], fft.fftfreq(tile_h)[:, None]
    looked_at = (np.hypot(fx * tile_w, fy * tile_h) >= 2.5) & (np.maximum(fx, abs(fy)) < 0.334)

    def find(v):
        power = np.zeros((tile_h, tile_w // 2 + 1), np.float32)
        for y in places[0]:
            for x in places[1]:
                tile = v[y:y + tile_h, x:x + tile_w]
                z = fft.rfft2((tile - tile.mean()) * fade)
                power += z.real ** 2 + z.imag ** 2
        y, x = np.unravel_index(np.argmax(ndimage.uniform_filter(power, 3) * looked_at), power.shape)
        return fx[0, x], fy[y, 0]

    def once():
        v = image.astype(np.float32)
        cx, cy = find(v)
        size = np.hypot(cx, cy)
        reach = int(np.ceil(4 / size))
        tall, wide = (fft.next_fast_len(n + 2 * reach, real=True) for n in (h, w))
        wide_v = np.pad(v, ((reach, tall - h - reach), (reach, wide - w - reach)), "symmetric")
        mean = ndimage.uniform_filter1d(ndimage.uniform_filter1d(wide_v, round(1 / cx)), round(1 / cx))
        u = np.hypot(fft.rfftfreq(wide)[None] - cx, fft.fftfreq(tall)[:, None] - cy) / (0.75 * size)
        z = fft.rfft2(wide_v)
        spectrum = np.zeros((tall, wide), np.complex64)
        spectrum[:, :z.shape[1]] = z * np.where(u < 0.5, 1, np.where(u < 1, (1 + np.cos(np.pi * (2 * u - 1))) / 2, 0))
        z = fft.ifft2(spectrum, overwrite_x=True)[reach:reach + h, reach:reach + w]
        amplitude = 2 * np.abs(z)
        return np.angle(z), amplitude / mean[reach:reach + h, reach:reach + w], v - 2 * z.real + amplitude
    return once


def wff_phases(images, rig):
    """wff of two phases: windows of 64 x 64, ten pixels apart, by SciPy's transforms of floats, a row of them at once."""
    from scipy import fft
    n, hop, reach = 64, 10, 32
    at = np.arange(-reach, n - reach)
    window = np.where(abs(at) < reach, np.exp(-at ** 2 / (2 * 10.0 ** 2)), 0)
    window = np.outer(window, window).astype(np.float32)
    h, w = images[0].shape

    def one(phase):
        padded = np.zeros((h + n, w + n), np.complex64)
        padded[reach:reach + h, reach:reach + w] = np.exp(1j * phase)
        total = np.zeros_like(padded)
        parts = np.lib.stride_tricks.sliding_window_view(padded, (n, n))[hop // 2:h:hop, hop // 2:w:hop]
        for j, row in enumerate(parts):
            c = fft.fft2(row * window)
            power = c.real ** 2 + c.imag ** 2
            noise = np.median(power.reshape(len(c), -1)[:, ::4], axis=1) / np.log(2)
            c[power <= 3.5 ** 2 * noise[:, None, None]] = 0
            for i, part in enumerate(fft.ifft2(c, overwrite_x=True) * window):
                total[hop // 2 + j * hop:, hop // 2 + i * hop:][:n, :n] += part
        return np.angle(total[reach:reach + h, reach:reach + w])
    return lambda: [one(phase) for phase in images[:2]]


def wrapped(images):
    return np.arctan2(*wrap(images[:3]))


def histogram(images, rig):
    parameters = cv2.phase_unwrapping_HistogramPhaseUnwrapping_Params()
    parameters.height, parameters.width = images[0].shape
    unwrapping = cv2.phase_unwrapping.HistogramPhaseUnwrapping_create(parameters)
    phase = wrapped(images)
    return lambda: unwrapping.unwrapPhaseMap(phase)


def skimage(images, rig):
    from skimage.restoration import unwrap_phase
    phase = wrapped(images)
    return lambda: unwrap_phase(phase)


def wrap_steps(images, rig):
    """N equal steps, and the modulation that ours gives too; shifts of fringegen."""
    n = len(images)
    shifts = [TURN / 3 * (i - 1) if n == 3 else TURN * i / n for i in range(n)]

    def work():
        sine, cosine, mean = (np.zeros(images[0].shape, np.float32) for _ in range(3))
        for image, shift in zip(images, shifts):
            image = image.astype(np.float32)
            sine -= np.float32(np.sin(shift)) * image
            cosine += np.float32(np.cos(shift)) * image
            mean += image
        return np.arctan2(sine, cosine), 2 * np.sqrt(sine * sine + cosine * cosine) / mean
    return work


def blur_phases(images, rig):
    return lambda: [np.arctan2(cv2.GaussianBlur(np.sin(phase), (11, 11), 11 / 6),
                               cv2.GaussianBlur(np.cos(phase), (11, 11), 11 / 6)) for phase in images[:2]]


def unwrap_two(images, rig):
    return lambda: unwrap(images[0], images[1], rig)


def skimage_phase(images, rig):
    from skimage.restoration import unwrap_phase
    return lambda: unwrap_phase(images[0])


def histogram_phase(images, rig):
    parameters = cv2.phase_unwrapping_HistogramPhaseUnwrapping_Params()
    parameters.height, parameters.width = images[0].shape
    unwrapping = cv2.phase_unwrapping.HistogramPhaseUnwrapping_create(parameters)
    return lambda: unwrapping.unwrapPhaseMap(images[0])


def remap(images, rig, how=cv2.INTER_LINEAR):
    """Both planes by the maps of rig.json's left camera."""
    rig = {key: np.array(value, float) for key, value in json.load(open("rig.json")).items()}
    size = int(rig["image_size"][0]), int(rig["image_size"][1])
    R1, _, P1 = cv2.stereoRectify(rig["K1"], rig["d1"], rig["K2"], rig["d2"], size, rig["R"], rig["T_mm"], flags=0)[:3]
    maps = cv2.initUndistortRectifyMap(rig["K1"], rig["d1"], R1, P1, size, cv2.CV_32FC1)
    return lambda: [cv2.remap(image, *maps, how) for image in images]


def block_matching(images, rig):
    """Disparity of two rectified pictures, which fill the frame: the usual settings, 160 disparities."""
    pair = [np.clip(np.nan_to_num(image), 0, 255).astype(np.uint8) for image in images[:2]]
    matcher = cv2.StereoSGBM_create(minDisparity=-80, numDisparities=160, blockSize=5, P1=8 * 25, P2=32 * 25,
                                    disp12MaxDiff=1, uniquenessRatio=10, speckleWindowSize=100, speckleRange=2)
    return lambda: matcher.compute(*pair)


def remap_cubic(images, rig):
    return remap(images, rig, cv2.INTER_CUBIC)


def read_with(suffix):
    def work(images, rig):
        path = os.path.join(tempfile.mkdtemp(dir="."), "image" + suffix)
        cv2.imwrite(path, images[0])
        return lambda: cv2.imread(path, cv2.IMREAD_UNCHANGED)
    return work


def write_with(suffix):
    def work(images, rig):
        path = os.path.join(tempfile.mkdtemp(dir="."), "image" + suffix)
        return lambda: cv2.imwrite(path, images[0])
    return work


def opencv_corners(image, inner=(11, 8)):
    found, corners = cv2.findChessboardCorners(image, inner)
    if not found:
        sys.exit("OpenCV finds no board")
    stop = (cv2.TERM_CRITERIA_EPS + cv2.TERM_CRITERIA_MAX_ITER, 30, 0.001)
    return cv2.cornerSubPix(image, corners, (11, 11), (-1, -1), stop)[:, 0]


def chessboard(images, rig):
    image = np.ascontiguousarray(images[0])
    return lambda: opencv_corners(image)


def check_corners(picture, found, truth):
    """Distances of ours and of OpenCV's corners from the nearest true ones."""
    true = np.stack(read_nrrd(truth)[0][:2])[:, 0].T
    ours = np.stack(read_nrrd(found)[0][:2])[:, 0].T
    theirs = opencv_corners(np.ascontiguousarray(read_nrrd(picture)[0][0]))
    for name, corners in (("boardfind", ours), ("OpenCV", theirs)):
        off = np.linalg.norm(corners[:, None] - true[None], axis=2).min(1)
        print(f"  {name}: {len(corners)} of {len(true)} corners, rms of u and v from the truth "
              f"{np.sqrt((off ** 2).mean() / 2):.4f} px")


WORKS = {
    "chessboard": chessboard,
    "chain": numpy_chain, "fast_chain": fast_chain, "wrap": numpy_wrap, "blur": blur_vectors,
    "fourier": fourier, "fourier_alike": fourier_alike, "wff_phases": wff_phases,
    "sinusoidal": sinusoidal, "histogram": histogram, "skimage": skimage,
    "wrap_steps": wrap_steps, "blur_phases": blur_phases, "unwrap_two": unwrap_two,
    "skimage_phase": skimage_phase, "histogram_phase": histogram_phase,
    "remap": remap, "remap_cubic": remap_cubic,
    "block_matching": block_matching,
    "read_png": read_with(".png"), "read_tif": read_with(".tif"),
    "write_png": write_with(".png"), "write_tif": write_with(".tif"),
}


def check(images, rig, path):
    planes, keys = read_nrrd(path)
    ours = planes[keys["channels"].split().index("depth")]
    for name, smoothing in (("NumPy", smooth), ("fast", smooth_fast)):
        difference = (chain(images, rig, smoothing)[0] - ours)[10:-10, 10:-10]
        print(f"{name} {np.sqrt(np.nanmean(difference ** 2)):.3g} mm", end="  ")
    print()


def make_map(size, noise, path):
    w, h = (int(word) for word in size.split("x"))
    rng = np.random.default_rng(1)
    y, x = np.mgrid[0:h, 0:w] / max(w, h)
    phase = TURN * (10 * np.exp(-((x - .5) ** 2 + (y - .4) ** 2) * 9) + 9.5 * x)
    if noise == np.inf:
        phase = rng.uniform(-np.pi, np.pi, (h, w))
    elif noise > 0:
        phase += rng.normal(0, noise, (h, w))
    head = f"NRRD0004\ntype: float\ndimension: 2\nsizes: {w} {h}\nendian: little\nencoding: raw\nchannels:=phase\n\n"
    with open(path, "wb") as file:
        file.write(head.encode() + np.angle(np.exp(1j * phase)).astype("<f4").tobytes())


def turns_map(path, turn, out):
    """The wrapped phase, in rad, of a picture whose levels are 1/turn of a turn."""
    phase = read_nrrd(path)[0][0] * np.float32(TURN / turn)
    h, w = phase.shape
    head = f"NRRD0004\ntype: float\ndimension: 2\nsizes: {w} {h}\nendian: little\nencoding: raw\nchannels:=phase\n\n"
    with open(out, "wb") as file:
        file.write(head.encode() + phase.astype("<f4").tobytes())


def make_laser(size, frames, path):
    """Images of a line that wanders over a dark scene."""
    w, h = (int(word) for word in size.split("x"))
    rng = np.random.default_rng(5)
    y, x = np.mgrid[0:h, 0:w]
    head = f"NRRD0004\ntype: uchar\ndimension: 2\nsizes: {w} {h}\nendian: little\nencoding: raw\nchannels:=image\n\n"
    with open(path, "wb") as file:
        for k in range(frames):
            u = w * (0.15 + 0.6 * k / frames) + 40 * np.sin(y[:, :1] / 90 + k / 7)
            image = 20 + 150 * np.exp(-(x - u) ** 2 / 8) + rng.normal(0, 2, (h, w))
            file.write(head.encode() + np.clip(np.rint(image), 0, 255).astype(np.uint8).tobytes())


# ---- laser lines: Steger's points, without linking ----

def points_of(rx, ry, rxx, rxy, ryy, threshold=2.25):
    """Equation 12 of Liu et al. 2016 where the eigenvalue is below the threshold."""
    mean, d = (rxx + ryy) / 2, (rxx - ryy) / 2
    eigenvalue = mean - np.sqrt(d * d + rxy * rxy)
    v, u = np.nonzero(eigenvalue < -threshold)
    angle = np.arctan2(2 * rxy[v, u], rxx[v, u] - ryy[v, u]) / 2 + np.pi / 2
    nu, nv, e = np.cos(angle), np.sin(angle), eigenvalue[v, u]
    t = -(nu * rx[v, u] + nv * ry[v, u]) / e
    inside = np.maximum(abs(t * nu), abs(t * nv)) <= 0.5
    return np.stack([u + t * nu, v + t * nv])[:, inside]


def skimage_lines(images, rig):
    from skimage.feature import hessian_matrix, hessian_matrix_eigvals
    from scipy.ndimage import gaussian_filter
    at = iter(range(10 ** 9))

    def work():
        image = images[next(at) % len(images)].astype(np.float32)
        h = hessian_matrix(image, sigma=2, order="rc")
        hessian_matrix_eigvals(h)
        smooth = gaussian_filter(image, 2)
        ry, rx = np.gradient(smooth)
        return points_of(rx, ry, *h[::-1])
    return work


def opencv_lines(images, rig):
    at, r = iter(range(10 ** 9)), np.arange(-8, 9)
    g = np.exp(-r * r / 8.0)
    g /= g.sum()
    g1, g2 = r / 4 * g, (r * r / 16 - 0.25) * g

    def work():
        image = images[next(at) % len(images)]
        return points_of(*(cv2.sepFilter2D(image, cv2.CV_32F, a, b)
                           for a, b in ((g1, g), (g, g1), (g2, g), (g1, g1), (g, g2))))
    return work


WORKS.update(skimage_lines=skimage_lines, opencv_lines=opencv_lines)


def main():
    work = sys.argv[1]
    if work == "laser":
        make_laser(sys.argv[2], int(sys.argv[3]), sys.argv[4])
        return
    if work == "map":
        make_map(sys.argv[2], float(sys.argv[3]), sys.argv[4])
        return
    if work == "turns":
        turns_map(sys.argv[2], float(sys.argv[3]), sys.argv[4])
        return
    if work == "corners":
        check_corners(*sys.argv[2:5])
        return
    images, keys = read_nrrd(sys.argv[2] if work == "check" else sys.argv[4])
    rig = Rig(images, keys) if "ref_plane_rad" in keys else None
    if work == "check":
        check(images, rig, sys.argv[3])
        return
    frames = int(sys.argv[2])
    cv2.setNumThreads(int(sys.argv[3]))
    once = WORKS[work](images, rig)
    once()
    start, start_cpu = time.perf_counter(), time.process_time()
    for _ in range(frames):
        once()
    print(f"{1000 * (time.perf_counter() - start) / frames:.4f}",
          f"{1000 * (time.process_time() - start_cpu) / frames:.4f}")


if __name__ == "__main__":
    main()
