#!/usr/bin/python3
"""PNG files from file to file by OpenCV or Pillow, for scripts/bench: png.py read|write cv2|PIL FRAMES FILE ...
prints milliseconds per frame by the clock and of the processor. One thread; default settings."""
import importlib
import os
import sys
import time

import numpy as np

PATH = "written_by_peer.png"


def works(module, files):
    """For each file what reads it, and what writes its pixels again."""
    if module.__name__ == "cv2":
        module.setNumThreads(1)
        images = [module.imread(path, module.IMREAD_UNCHANGED) for path in files]
        return ([lambda path=path: module.imread(path, module.IMREAD_UNCHANGED) for path in files],
                [lambda image=image: module.imwrite(PATH, image) for image in images])
    images = [module.open(path) for path in files]
    for image in images:
        image.load()
    return ([lambda path=path: np.asarray(module.open(path)) for path in files],
            [lambda image=image: image.save(PATH) for image in images])


def main():
    name, frames, files = sys.argv[2], int(sys.argv[3]), sys.argv[4:]
    module = importlib.import_module("PIL.Image" if name == "PIL" else name)
    run = works(module, files)[sys.argv[1] == "write"]
    run[0]()
    start, start_cpu = time.perf_counter(), time.process_time()
    for i in range(frames):
        run[i % len(run)]()
    print(f"{1000 * (time.perf_counter() - start) / frames:.4f}",
          f"{1000 * (time.process_time() - start_cpu) / frames:.4f}")
    if os.path.exists(PATH):
        os.remove(PATH)


if __name__ == "__main__":
    main()
