load helpers

# Checks (checks(7)): every frame is looked at, on any number of threads and on a device; which lines
# are printed.

# stream FAULT: eight measurements of six steps, f.nrrd, one of which has the fault.
stream() {
	py "fault = '$1'"'
rng = np.random.default_rng(1)
x, y = np.meshgrid(np.arange(160), np.arange(120))
frames = []
for m in range(8):
	phase = 2 * np.pi * (x + 4 * np.sin(y / 30)) / 40
	images = [110 + 80 * np.cos(phase + 2 * np.pi * k / 6) + rng.normal(0, 1.5, x.shape) for k in range(6)]
	if m == 6 and fault == "step":
		images[2] = images[1]
	if m == 6 and fault == "shutter":
		images[4] = 30 + rng.normal(0, 1.5, x.shape)
	if m == 6 and fault in ("saturated", "both"):
		images = [np.minimum(i, 170) for i in images]
	if m == 6 and fault == "unlit":
		images = [np.where(x < 80, i, 5 + rng.normal(0, 1.5, x.shape)) for i in images]
	if m == 6 and fault == "off":
		images = [12 + rng.normal(0, 1.5, x.shape) for i in images]
	if m == 6 and fault == "clipped":	# half of each period, in one row of two
		images = [np.where(y % 2, i * 1.6, i) for i in images]
	if m == 6 and fault == "both":
		images[1], images[3] = images[3], images[1]
	for i in images:
		frames.append(Frame(np.clip(np.round(i), 0, 255).astype("u1")[None]))
write_frames("f.nrrd", frames)'
}

# everywhere WORDS: the only line is that of measurement 6, whatever computes it.
everywhere() {
	fails 0 "phasewrap: measurement 6: $1" phasewrap -j 1 -n 6 -p 40 f.nrrd -o null:
	FRINGEPIPE_BAND=7 fails 0 "phasewrap: measurement 6: $1" phasewrap -j 2 -n 6 -p 40 f.nrrd -o null:
	fails 0 "phasewrap: measurement 6: $1" phasewrap -j 4 -n 6 -p 40 f.nrrd -o null:
	[[ $(fringepipe --devices) == *$'\ngpu:'* ]] || return 0
	use_llvmpipe
	# the phases stay on the device
	fails 0 "phasewrap: measurement 6: $1" fringepipe -j 2 -d gpu phasewrap -n 6 -p 40 f.nrrd , gauss -o null:
}

@test "checks: a fault in one measurement of eight names that measurement, on processor and device" {
	stream none
	silent phasewrap -n 6 -p 40 f.nrrd -o null:
	stream step
	everywhere "the period 40 px: image 2 and image 3 show the same"
	stream shutter
	everywhere "the period 40 px: image 5 does not fit the others"
	stream saturated
	everywhere "about 2"
	[[ $stderr == *"samples are exactly 170, and none is above: if the camera saturates there give --max-value 170" ]]
	stream unlit
	everywhere "about 4"
	[[ $stderr == *" % of the pixels that have a phase are unlit, and it is noise: "*"--min-amplitude "? ]]
	stream off
	everywhere "there are no fringes: phases are random, of an amplitude of about "
	# of the share of pixels that any image saturates, by NumPy, within what a sample tells
	stream clipped
	everywhere ""
	py 'import re
planes = np.array([f.pixels[0] for f in read_frames("f.nrrd")][36:42])
share = 100 * (planes.max(0) == 255).mean()
told = float(re.search("measurement 6: ([0-9]+) % of the pixels that pass all other limits are lost to saturation", sys.argv[1])[1])
expect(abs(told - share) < 2, told, share)' "$stderr"
}

@test "checks: independent ones have a line each, the worst first; --no-check and -q leave lines out" {
	stream both
	run --separate-stderr phasewrap -n 6 -p 40 f.nrrd -o null:
	[ "$(wc -l <<<"$stderr")" -eq 2 ]
	[[ $stderr == "phasewrap: measurement 6: the period 40 px: image "*"exchanged"*$'\n'"phasewrap: measurement 6: about 2"*"exactly 170"* ]]
	fails 0 "exactly 170" phasewrap --no-check steps -n 6 -p 40 f.nrrd -o null:
	phasewrap -v --no-check steps -n 6 -p 40 f.nrrd -o null: 2>&1 | has "give --max-value 170 (--no-check saturation)"
	silent phasewrap --no-check steps --no-check saturation -n 6 -p 40 f.nrrd -o null:
	fails 0 "exchanged" fringepipe --no-check saturation phasewrap -n 6 -p 40 f.nrrd , framecat -o null:
	silent phasewrap -q -n 6 -p 40 f.nrrd -o null:
	# they are not printed, and count
	fails 1 "phasewrap: --strict: 2 warnings" phasewrap -q --strict -n 6 -p 40 f.nrrd -o null:
	silent phasewrap --strict --no-check steps --no-check saturation -n 6 -p 40 f.nrrd -o null:
}

@test "checks: fringe orders, points, matches and laser lines: a late frame, on processor and device; --no-check, --strict" {
	py '
rng = np.random.default_rng(1)
x, y = np.meshgrid(np.arange(160), np.arange(120))
u = 3.5 * x + 6 * np.sin(y / 20)
frames = []
for m in range(4):
	phases = [np.angle(np.exp(2j * np.pi * u / p + 1j * rng.normal(0, 0.05, x.shape))) for p in (60, 66)]
	if m == 2: phases[1] = rng.uniform(-np.pi, np.pi, x.shape)
	frames.append(Frame(np.stack(phases).astype("f4"), ["phase1", "phase2"], {"period_px": "60 66"}))
write_frames("late.nrrd", frames)
a = (2 * np.pi * u / 60).astype("f4")[None]
write_frames("whole.nrrd", Frame(np.rint(a), ["absphase"], {"period_px": "60"}))
light = 50 + 150 * np.exp(-(x - 80) ** 2 / 8.) + rng.normal(0, 1, x.shape)
write_frames("line.nrrd", Frame(np.rint(light).astype("u1")))
write_frames("other.nrrd", Frame(np.rint(120 + rng.normal(0, 1, x.shape)).astype("u1")))'
	fails 0 "steger: --background: differs from the image by more than " steger --background other.nrrd line.nrrd -o null:
	silent steger --background other.nrrd --no-check line-background line.nrrd -o null:
	words="frame 2: residual: as large as from random fringe orders"
	fails 0 "unwrap2f: $words" unwrap2f -j 1 late.nrrd -o null:
	FRINGEPIPE_BAND=7 fails 0 "unwrap2f: $words" unwrap2f -j 3 late.nrrd -o null:
	# pixels that --max-residual rejects count, too
	fails 0 "unwrap2f: $words" unwrap2f --max-residual 0.1 late.nrrd -o null:
	fails 0 "unwrap2f: frame 2: absphase: " unwrap2f --no-check residuals late.nrrd -o null:
	silent unwrap2f --no-check residuals --no-check jumps late.nrrd -o null:
	fails 1 "unwrap2f: --strict: 1 warning" unwrap2f -q --strict late.nrrd -o null:
	fails 0 "--period: says 58 px for phase 1" unwrap2f -p 58,63.8 --no-check residuals --no-check jumps late.nrrd -o null:
	silent unwrap2f -p 58,63.8 --no-check residuals --no-check jumps --no-check period-key late.nrrd -o null:
	fails 0 "the phase: holds whole numbers only" phase2depth --ref-plane 0,0.36,0 -c 1 whole.nrrd -o null:
	silent phase2depth --ref-plane 0,0.36,0 -c 1 --no-check phase-samples whole.nrrd -o null:
	[[ $(fringepipe --devices) == *$'\ngpu:'* ]] || return 0
	use_llvmpipe
	fails 0 "unwrap2f: $words" unwrap2f -d gpu late.nrrd -o null:
	fails 0 "the phase: holds whole numbers only" phase2depth -d gpu --ref-plane 0,0.36,0 -c 1 whole.nrrd -o null:
}

@test "checks: one of three images is black: nothing is left over, but no light is negative" {
	py '
rng = np.random.default_rng(1)
x, y = np.meshgrid(np.arange(160), np.arange(120))
def write(name, period, dark=None, modulation=0.7, start=0):
	frames = []
	for m in range(8):
		for k in range(3):
			a = 100 * (1 + modulation * np.cos(2 * np.pi * ((x + 4 * np.sin(y / 30) - start) / period + (k - 1) / 3)))
			a = a if (m, k) != (6, dark) else 3
			frames.append(Frame(np.clip(np.round(a + rng.normal(0, 1.5, x.shape)), 0, 255).astype("u1")[None]))
	write_frames(name, frames)
for k in range(3): write(f"dark{k + 1}.nrrd", 40, k)
# a tenth of a fringe in view, at its darkest, is light as well
for k in range(3): write(f"trough{k + 1}.nrrd", 1600, None, 1, 800 + (k - 1) * 1600 / 3)'
	three=(phasewrap -n 3 --shift=-120,0,120 --sign +1)
	for k in 1 2 3; do
		fails 0 "phasewrap: measurement 6: the period 40 px: image $k is dark: its mean is " "${three[@]}" -p 40 dark$k.nrrd -o null:
		silent "${three[@]}" -p 1600 trough$k.nrrd -o null:
	done
}

@test "checks: mistakes that explain others, pixels lost for another reason, facts of the frame at hand" {
	py '
import json
x, y = np.meshgrid(np.arange(160), np.arange(120))
rig = dict(camera_K=[[800, 0, 80], [0, 800, 60], [0, 0, 1]], projector_K=[[800, 0, 320], [0, 800, 240], [0, 0, 1]],
	R_cam_to_proj=np.eye(3).tolist(), T_cam_to_proj=[-0.2, 0, 0], camera_size=[160, 120], projector_size=[640, 480],
	fringe_period_projector_px=20)
json.dump(rig, open("metres.json", "w"))
column = 800 * ((x - 80) / 800 * 0.8 - 0.2) / 0.8 + 320
write_frames("metres.nrrd", Frame((column * 2 * np.pi / 20).astype("f4")[None], ["absphase"]))
parts = np.stack([np.angle(np.exp(2j * np.pi * (3.5 * x + 100) / p)) for p in (60, 66)]).astype("f4")
parts[:, :, 60:70] = np.nan
write_frames("parts.nrrd", Frame(parts, ["phase1", "phase2"]))
for name, steps in (("a", range(6)), ("b", (0, 1.3, 2.1, 2.9, 4.2, 5.1))):	# right sets, of other shifts
	for i, step in enumerate(steps):
		wave = 110 + 70 * np.cos(2 * np.pi * x / 23 + 0.5 * np.sin(y / 15) - np.pi / 3 * step)
		write_frames(f"{name}{i}.nrrd", Frame(np.rint(wave).astype("u1")[None], ["image"]))'
	fails 0 "metres.json: camera and projector are 0.2 mm apart: is T in metres?" \
		phase2depth --calib metres.json --period 60 metres.nrrd -o null:
	fails 0 "connected to no --anchor" \
		unwrap2f -p 60,66 --coarse spatial --anchor 5,60,12 --max-residual 0.25 parts.nrrd -o null:
	silent phasewrap -n 6 --shift auto --sign 1 -p 23 a?.nrrd b?.nrrd -o null:
	[[ $(fringepipe --devices) == *$'\ngpu:'* ]] || return 0
	use_llvmpipe
	silent phasewrap -d gpu -n 6 --shift auto --sign 1 -p 23 a?.nrrd b?.nrrd -o null:
}

@test "checks: an unknown name lists all; checks(7) has exactly these" {
	fails 2 "phasewrap: --no-check: there is no check 'stepps', only: " phasewrap --no-check stepps f.nrrd -o null:
	fails 2 "gauss: --no-check: there is no check 'x', only: " gauss --no-check x f.nrrd -o null:
	fails 2 "stand before the first stage or in the last" fringepipe gauss --no-check steps f.nrrd , gauss -o null:
	run fringepipe --no-check help gauss f.nrrd -o null:
	[ "$status" -eq 2 ]
	listed=$(sed 's/.*only: //' <<<"$output" | tr ' ' '\n' | sort)
	page=$(sed -n '/^\.Sh CHECKS OF/,/^\.Sh EXAMPLES/s/^\.It Cm //p' "$BATS_TEST_DIRNAME/../man/checks.7" | sort)
	[ "$listed" = "$page" ]
}

@test "checks: a run without any valid pixel fails, its frames are written; one empty frame is a warning" {
	py 'a = np.random.default_rng(1).normal(size=(1, 20, 30)).astype("f4")
write_frames("some.nrrd", [Frame(a, ["phase"]), Frame(a * np.nan, ["phase"]), Frame(a, ["phase"])])
write_frames("none.nrrd", [Frame(a * np.nan, ["phase"])] * 2)'
	fails 0 "gauss: no pixel of the input is valid in frame 1" gauss some.nrrd -o some-out.nrrd
	fails 1 "gauss: --strict: 1 warning" gauss -q --strict some.nrrd -o some-out.nrrd
	fails 1 "gauss: no pixel of the input is valid" gauss none.nrrd -o out.nrrd
	[ "$(frameinfo out.nrrd | grep -c .)" -gt 0 ]
	fails 1 "gauss: no frame has a valid pixel" gauss -q none.nrrd -o null:
	fails 1 "shade: no pixel of the input is valid" shade none.nrrd -o pic%d.png	# black, and written
	[ -s pic1.png ]
	py 'a = np.full((4, 20, 30), np.nan, "f4"); a[3] = 50	# a surface without a point, however bright
write_frames("bright.nrrd", Frame(a, ["x", "y", "z", "texture"]))'
	for tool in shade "shade --view 30,20" normals; do
		# shellcheck disable=SC2086
		fails 1 "no pixel of the input is valid" $tool bright.nrrd -o bright-out%d.nrrd
	done
	stream none
	fails 1 "phasewrap: no pixel of phase is valid, though the input has some" phasewrap -n 6 -p 40 --min-amplitude 200 f.nrrd -o null:
	need_gpu
	use_llvmpipe
	fails 1 "phasewrap: no pixel of phase is valid, though the input has some" phasewrap -d gpu -n 6 -p 40 --min-amplitude 200 f.nrrd -o null:
	fails 0 "gauss: no pixel of the input is valid in frame 1" gauss -d gpu some.nrrd -o some-out.nrrd
	fails 1 "gauss: no pixel of the input is valid" gauss -d gpu none.nrrd -o null:
	fails 1 "shade: no pixel of the input is valid" shade -d gpu none.nrrd -o pic%d.png
	fails 1 "fringepipe: phasewrap: no pixel of phase is valid, though" fringepipe -d gpu phasewrap -n 6 -p 40 --min-amplitude 200 f.nrrd , gauss -o null:
}
