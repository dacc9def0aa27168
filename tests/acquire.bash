# For tests of fringeshow and fringeshoot: an X server without a screen, whose pixels lie in a file.

# One of these files at a time on a machine: a camera's port is that of all GigE Vision devices, and a tool that looks for a
# camera finds that of another test, too. The lock is free when the file's process has ended.
setup_file() {
	exec 8>"${TMPDIR:-/tmp}/fringepipe-camera.lock"
	flock -w 900 8
}

# start_screen [WxH]: a server of our own; sets DISPLAY, and screen_pid for stop_screen.
start_screen() {
	mkdir -p fb
	Xvfb -displayfd 5 -screen 0 "${1:-640x480}x24" -fbdir fb -noreset 5>display >/dev/null 2>xvfb.log 3>&- &
	screen_pid=$!
	until [ -s display ]; do
		kill -0 "$screen_pid" || return 1
		sleep 0.05
	done
	DISPLAY=:$(<display)
	export DISPLAY
}

stop_screen() {
	if [ -n "${screen_pid:-}" ]; then kill "$screen_pid"; fi
}

teardown() {
	if [ -n "${camera_pid:-}" ]; then kill "$camera_pid"; fi
	stop_screen
	cd "$top" || return 1
	rm -rf "$work"
}

# eventually SECONDS COMMAND ...: the command succeeds some time before they are over.
eventually() {
	local until
	until=$((SECONDS + $1))
	shift
	until "$@"; do
		[ "$SECONDS" -lt "$until" ] || return 1
		sleep 0.1
	done
}

# shows FILE: every pixel of the screen is that of the image.
shows() {
	py '
import struct
from PIL import Image
raw = open("fb/Xvfb_screen0", "rb").read()
head = struct.unpack(">25I", raw[:100])
at = head[0] + 12 * head[19]
screen = np.frombuffer(raw, "u1", head[5] * head[12], at).reshape(head[5], -1, 4)[:, :head[4], 2::-1]
image = Image.open(sys.argv[1])
if image.mode == "1":
	image = image.convert("L")
image = np.asarray(image)
image = np.stack([image] * 3, 2) if image.ndim == 2 else image
sys.exit(image.shape != screen.shape or bool((image != screen).any()))' "$1"
}

# interruptible COMMAND ... &: SIGINT reaches it, which bash has its background commands ignore, and SIGHUP, which nohup does.
interruptible() {
	exec env --default-signal=INT,HUP "$@"
}

# start_camera [CONDITION ...]: the camera of tests/virtual_camera.c, which sees the screen; sets camera_pid.
start_camera() {
	if [ ! -x virtual_camera ]; then
		# shellcheck disable=SC2046	# words of flags
		gcc -O2 -o virtual_camera "$top/tests/virtual_camera.c" $(pkg-config --cflags --libs aravis-0.8) -lm -lpthread
	fi
	./virtual_camera fb/Xvfb_screen0 truth.pfm noise=6 "$@" >camera.log 2>&1 3>&- 8>&- &
	camera_pid=$!
	eventually 20 grep -qs ready camera.log
}

stop_camera() {
	if [ -n "${camera_pid:-}" ]; then
		kill "$camera_pid"
		wait "$camera_pid"
		camera_pid=
	fi
}

# rig [OPTION OF FRINGEGEN ...]
rig() {
	start_screen 640x160
	if [ $# -eq 0 ]; then set -- -p 60,66; fi
	fringegen -q -s 640x160 -n 4 "$@" -m pat/list.txt -o pat/
}

shoot() {
	fringeshoot -q -m pat/list.txt --camera 127.0.0.1 --format Mono12 "$@"
}

# errors FOLDER: invalid pixels, the largest error and the rms in projector pixels, against truth.pfm.
errors() {
	fringepipe -q phasewrap -m "$1/manifest.txt" , unwrap2f -o abs.nrrd -f
	py '
u = np.fromfile("truth.pfm", "<f4", offset=len(b"Pf\n320 128\n-1.0\n")).reshape(128, 320)[::-1]
d = read_frame("abs.nrrd").pixels[0] * 60 / (2 * np.pi) - u
bad = np.isnan(d)
print(int(bad.sum()), float(np.abs(d[~bad]).max()), float(np.sqrt((d[~bad] ** 2).mean())))' | tee -a results
}

# right FOLDER: all pixels valid, none off by 1 px, rms at most 0.05 px.
right() {
	errors "$1" | awk '{ exit !($1 == 0 && $2 < 1 && $3 <= 0.05) }'
}

wrong() {
	errors "$1" | awk '{ exit !($2 > 1) }'
}
