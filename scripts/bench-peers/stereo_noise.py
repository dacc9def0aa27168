#!/usr/bin/python3
"""Noise of a cloud by the k-neighbourhood, as table I of Liu 2015 counts it (the paper names neither k nor limit).

stereo_noise.py POINTS.nrrd    the number of points, and the share in % of those whose mean distance to their 16
                               nearest is above the median of all by more than 6 times 1.4826 MAD; of a frame
                               without x y z: of column, row and disparity
"""
import sys

import numpy as np
from peers import read_nrrd
from scipy.spatial import cKDTree

K, MOST = 16, 6


def main():
    planes, keys = read_nrrd(sys.argv[1])
    names = keys.get("channels", "image").split()
    planes = dict(zip(names, planes))
    valid = np.isfinite(planes["disparity"])
    rows, columns = np.nonzero(valid)
    cloud = [planes[name][valid] for name in "xyz"] if "z" in planes else [columns, rows, planes["disparity"][valid]]
    cloud = np.stack(cloud, 1).astype(float)
    distance = cKDTree(cloud).query(cloud, K + 1)[0][:, 1:].mean(1)
    middle = np.median(distance)
    limit = middle + MOST * 1.4826 * np.median(np.abs(distance - middle))
    print(len(cloud), f"{100 * np.mean(distance > limit):.2f}")


if __name__ == "__main__":
    main()
