# The loops that are too long for scripts/check; each is a target of its own. T: seconds for all fuzzers together.
# SHARE=N: about an Nth of each, where it can be cut: so many repeats, frames, sets and calls of a function, and
# every Nth file of tests, another Nth each day. SHARE=1: all.
SHARE ?= 1
NIGHTLY := static sanitized tsan determinism soak places probe streams uncertainty calibration stereo lines laser views rig live cluster slurm faults fuzz fuzz-libraries agree-all bench-all coverage
# tools for aarch64: libraries and emulator are listed by scripts/setup --for nightly
ARM := build-arm/bin
CROSS := aarch64-linux-gnu-

.PHONY: nightly static sanitized tsan determinism soak places probe streams uncertainty calibration stereo lines laser views rig live cluster slurm bench-all coverage arm
nightly: stages  ## run every long loop, one line each (T=SECONDS for the fuzzers; SHARE=10: a tenth of each)
	T=$(T) SHARE=$(SHARE) scripts/nightly $(NIGHTLY)

static:  ## analyse C, scripts and man pages without running them
	scripts/check-static --all

# gcc's shared libubsan beside libasan knows no log_path; faults are injected into tools with shared ones
sanitized:  ## run the .bats files with address and undefined-behaviour sanitizers
	LDFLAGS="-static-libasan -static-libubsan" $(MAKE) SAN=address,undefined BUILD=build-sanitized BIN=bin-sanitized stages
	SHARE=$(SHARE) tests/nightly/sanitized

tsan:  ## run chains of many stages under ThreadSanitizer (clang)
	$(MAKE) CC=clang SAN=thread LEVELS=v2 BUILD=build-thread BIN=bin-thread stages
	SHARE=$(SHARE) FRINGEPIPE_BIN=$(CURDIR)/build-thread/bin-stages tests/nightly/tsan

arm:
	PKG_CONFIG_LIBDIR=/usr/lib/aarch64-linux-gnu/pkgconfig $(MAKE) GPU=0 CC=$(CROSS)gcc \
		BUILD=build-arm BIN=$(ARM) all

determinism: all arm  ## the same bytes over threads, levels, bands, pipes, devices, and on aarch64 (qemu-user)
	FRINGEPIPE_OTHER=$(CURDIR)/$(ARM) FRINGEPIPE_OTHER_UNDER=qemu-aarch64 \
		tests/nightly/determinism $$((1 + 19 / $(SHARE)))

soak: all  ## memory and descriptors stay constant over 100000 small and 1000 large frames
	tests/nightly/soak $$((90000 / $(SHARE) + 10000)) $$((500 / $(SHARE) + 500))

places: stages  ## the tests in a read-only tree, another locale, without HOME, as nobody, ...
	SHARE=$(SHARE) tests/nightly/places

probe: all  ## 400 random simulated sets, which the line that fringeprobe prints must decode, and 200 made in NumPy
	tests/nightly/probe $$((400 / $(SHARE) + 1))
	tests/nightly/probe_sets $$((200 / $(SHARE) + 1)) 4711

streams: stages  ## streams of images that begin anywhere and lack images, cut out of simulated ones
	tests/nightly/streams $$((5 / $(SHARE) + 1)) $$(date +%j)

laser: all  ## a ball bar of 149.12 mm at 30 poses of two heads, 200 trials of a scan direction against theory
	tests/nightly/laser $$((28 / $(SHARE) + 2)) $$((200 / $(SHARE)))

views: all  ## poses of two views by mergexyz --icp, 20 seeds of noise from four starts each
	tests/nightly/views $$((18 / $(SHARE) + 2))

rig: stages  ## fringeshoot with two cameras, a burst, its surface in a browser, V4L2 by vivid
	bats --show-output-of-passing-tests tests/nightly/rig

cluster: all  ## fringebatch over a Slurm cluster of one node, 200 sets and 10000 small ones, a full disk
	tests/nightly/cluster $$((180 / $(SHARE) + 20))

slurm: all  ## fringebatch over a Slurm cluster, of which one command, daemon, task or disk fails
	tests/nightly/slurm --share $(SHARE)

lines: all  ## the accuracy of laser lines, over all figures of steger(1)
	tests/nightly/lines

uncertainty: all  ## 68 and 95 % of errors within one and two sigma, in 20 larger repeats of every chain
	UNCERTAINTY_REPEATS=$$((19 / $(SHARE) + 1)) UNCERTAINTY_SIZE=320x240 tests/run tests/uncertainty.bats
	UNWRAPQ_MAPS=all SHIFTS_SETS=all FITSHAPE_TRIALS=100 tests/run tests/unwrapq.bats tests/phasewrap_shifts.bats tests/fitshape.bats
	tests/nightly/error_bars $$((39 / $(SHARE) + 1))

stereo: all  ## shares, gross errors and scatter of stereo matches, over the whole of the simulated scene
	STEREO_ROWS="-$$((299 / $(SHARE) + 1)) 300" tests/run tests/rectify.bats tests/phasematch.bats tests/phasematch_pairs.bats

calibration: all  ## errors of fringecal over their stated standard deviations, of 20 simulated rigs, from captures of one, and of circles
	CALIBRATION_SEEDS=$$((19 / $(SHARE) + 1)) tests/run tests/fringecal.bats
	tests/nightly/circles
	tests/nightly/captures

live: stages  ## holoserve for ten seconds at 60 frames/s with viewers that freeze, break off and send rubbish
	HOLOSERVE_FRAMES=$$((540 / $(SHARE) + 60)) bats --show-output-of-passing-tests tests/holoserve.bats -f 'at 60 frames/s'

bench-all: stages  ## every table of scripts/bench, quickly
	BENCH_ALL=1 tests/run tests/bench.bats

coverage:  ## lines that the tests run, for each room
	scripts/coverage
