load helpers
load acquire

# fringegrab: a GigE Vision camera on this machine (tests/virtual_camera.c), and commands as cameras.

@test "fringegrab: pixel formats agree, keys tell exposure, number and full scale" {
	start_screen 640x160
	start_camera noise=0
	for format in Mono8 Mono12 Mono12Packed Mono12p Mono16; do
		sleep 1	# the emulated camera may go on sending to the program before
		silent fringegrab -q --camera 127.0.0.1 --format "$format" -n 2 --exposure 5 --trigger software -o "$format.nrrd"
	done
	py '
wide = read_frames("Mono12.nrrd")[1]
expect(wide.names == ["image"] and wide.pixels.dtype == "u2", wide.names)
for name, shift, most in ("Mono8", 4, None), ("Mono12Packed", 0, "4095"), ("Mono12p", 0, "4095"), ("Mono16", -4, "65535"):
	frame = read_frames(name + ".nrrd")[1]
	want = wide.pixels >> shift if shift >= 0 else wide.pixels.astype("u4") << -shift
	expect((frame.pixels == want).all(), name)
	expect(frame.meta.get("max_value") == most, name, frame.meta)
	expect(frame.meta["exposure_time_s"] == "0.005" and frame.meta["camera"] == "127.0.0.1", frame.meta)
first, second = [int(f.meta["frame_number"]) for f in read_frames("Mono8.nrrd")]
expect(second == first + 1, first, second)'
}

@test "fringegrab: averages, labels, a stage that moves between frames, a preview" {
	start_screen 640x160
	start_camera
	fringegrab -q --camera 127.0.0.1=left --format Mono12 --trigger software -n 3 --average 4 --between "touch %d" \
		--key stage_mm=10,2.5 --preview -o a.nrrd 2>preview
	[ "$(grep -c 'fringegrab: 127.0.0.1: mean [0-9.]*, white [0-9]* of 4095, saturated 0.00 %, dark .*focus .* of the best' preview)" -eq 3 ]
	ls 0 1 2
	py '
frames = read_frames("a.nrrd")
expect([f.meta["stage_mm"] for f in frames] == ["10", "12.5", "15"], [f.meta for f in frames])
expect(all(f.pixels.dtype == "f4" and f.meta["label"] == "left" and f.meta["max_value"] == "4095" for f in frames))
one = read_frames("a.nrrd")[0].pixels
expect(2 < (frames[0].pixels - frames[1].pixels).std() < 6)	# of 6 levels, over 2, by sqrt(2)'
}

@test "fringegrab: lost packets and dropped frames are counted; a camera that dies is an error" {
	start_screen 640x160
	start_camera lost=0.02
	run -0 --separate-stderr fringegrab --camera 127.0.0.1 --trigger software -n 5 -o lost.nrrd
	# shellcheck disable=SC2154	# run sets it
	[[ $stderr == "fringegrab: "[0-9]*" pictures lost, "[0-9]*" with packets missing, "[0-9]*" not in time" ]]
	stop_camera
	start_camera
	fringegrab --camera 127.0.0.1 --trigger software -n 0 2>message 3>&- 8>&- >stream.nrrd &
	eventually 20 test -s stream.nrrd
	kill -KILL "$camera_pid"
	camera_pid=
	status=0
	wait $! || status=$?
	[ "$status" -eq 1 ]
	grep -q '^fringegrab: 127.0.0.1: ' message
}

@test "fringegrab: -n 0 ends by an interruption, with whole frames; commands take pictures, by arguments alone" {
	start_screen 640x160
	start_camera
	interruptible fringegrab -q --camera 127.0.0.1 --trigger software -n 0 >all.nrrd 3>&- 8>&- &
	two_frames() { [ "$(grep -ao NRRD000 all.nrrd | wc -l)" -ge 2 ]; }
	eventually 30 two_frames
	kill -INT $!
	wait $!
	frameinfo all.nrrd | has '^frame 1'
	# killed, it leaves whole files, and the camera takes the next one
	fringegrab -q --camera 127.0.0.1 --trigger software -n 0 -o 'killed%03d.png' 3>&- 8>&- &
	eventually 20 test -e killed002.png
	kill -KILL $!
	if wait $! 2>/dev/null; then false; fi
	for file in killed*.png; do frameinfo "$file" >/dev/null; done
	eventually 60 timeout -s INT 5 fringegrab -q --camera 127.0.0.1 --trigger software -o next.nrrd 2>/dev/null
	fringegen -q -s 64x32 -n 3 -p 16 -o pat/
	fringegrab --grab 'cp pat/phase_01.png %s' -n 2 -o "out %02d.png"
	framecmp pat/phase_01.png "out 01.png"
	fails 1 "no-such-program -o %s: cannot be run: No such file" fringegrab --grab 'no-such-program -o %s' -o x.nrrd
	fails 1 "false %s: exit status 1" fringegrab --grab 'false %s' -o x.nrrd
	fails 1 "true %s: " fringegrab --grab 'true %s' -o x.nrrd
	# Ctrl-C of a terminal reaches the command, too; a second signal leaves no folder behind
	# shellcheck disable=SC2016	# the script's own words
	printf '#!/bin/sh\nsleep 0.5\necho >>taken\nexec cp pat/phase_01.png "$1"\n' >slow
	chmod +x slow
	mkdir scratch
	TMPDIR=scratch interruptible setsid fringegrab --grab './slow %s' -n 0 -o slow.nrrd 2>message 3>&- &
	eventually 20 test -s taken
	sleep 0.2
	kill -INT -- "-$!"
	wait $!
	[ ! -s message ]
	frameinfo slow.nrrd | has '^frame 0'
	printf '#!/bin/sh\nexec sleep 5\n' >stuck
	chmod +x stuck
	TMPDIR=scratch interruptible fringegrab --grab './stuck %s' -o x.nrrd 2>/dev/null 3>&- &
	eventually 20 bash -c 'ls scratch/*' 2>/dev/null
	sleep 0.2
	kill -HUP $!
	sleep 0.2
	kill -TERM $!
	run ! wait $!
	rmdir scratch
	# a reader that ends early
	run bash -c "fringegrab --grab 'cp pat/phase_01.png %s' -n 0 | head -c 100 >head; echo \${PIPESTATUS[0]}"
	[[ $output == "fringegrab: standard output: "*"Broken pipe"*1 ]]
	# not a shell: nothing in the command is one's syntax
	run -1 fringegrab --grab 'cp %s ; touch broken' -o x.nrrd
	[ ! -e broken ]
}

@test "fringegrab: --settled says, once, that a still scene has no new pattern" {
	py 'write_frames("still.nrrd", Frame(np.full((8, 8), 90, "u1")))'
	# shellcheck disable=SC2016	# the script's own words
	printf '#!/bin/sh\nsleep 0.2\nexec cp still.nrrd "$1"\n' >slow
	chmod +x slow
	interruptible fringegrab --grab './slow %s' --settled -n 3 -o x.nrrd 2>message 3>&- &
	eventually 20 test -s message
	sleep 0.5
	kill -INT $!
	run ! wait $!
	[ "$(grep -c 'no new pattern for 5 s: the pictures stay the same, and --settled waits' message)" -eq 1 ]
}

@test "fringegrab: V4L2: formats, exposure, broken and missing pictures, automatics that stay on, a camera unplugged" {
	if sanitized; then skip "sanitized tools: their runtime must be loaded first"; fi
	gcc -O1 -shared -fPIC -o v4l2.so "$top/tests/v4l2_shim.c" -ldl
	grab() {
		LD_PRELOAD=$work/v4l2.so V4L2_FORMATS=$1 fringegrab --camera /dev/video77 "${@:2}"
	}
	for format in GREY YUYV "Y16 "; do
		run -0 --separate-stderr grab "MJPG$format" --exposure 16.7 -n 5 -o "${format% }.nrrd"
		# shellcheck disable=SC2154	# run sets it
		[ "$stderr" = "fringegrab: 1 pictures lost, 1 with packets missing, 0 not in time" ]
	done
	py '
y, x = np.mgrid[:48, :64]
for name in "GREY", "YUYV", "Y16":
	frames = read_frames(name + ".nrrd")
	numbers = [int(f.meta["frame_number"]) for f in frames]
	expect(numbers == [1, 2, 4, 6, 7], name, numbers)	# 3 was broken, 5 was lost
	for f, n in zip(frames, numbers):
		want = (x + 2 * y + 3 * (n - 1)) % 256
		expect((f.pixels == want + 256 * (name == "Y16")).all(), name, n)
		expect(f.meta["exposure_time_s"] == "0.0167" and ("max_value" in f.meta) == (name == "Y16"), f.meta)'
	V4L2_STUCK=1 fails 0 "/dev/video77: automatic exposure cannot be switched off" grab GREY -n 1 -o a.nrrd
	fails 1 "/dev/video77: has no format of GREY, Y16, Y12, Y10 and YUYV, but MJPG H264" grab MJPGH264 -o b.nrrd
	fails 1 "/dev/video77: has no format Y12, but GREY" grab GREY --format Y12 -o b.nrrd
	fails 2 "--trigger: /dev/video77 has no trigger lines" grab GREY --trigger Line0 -o b.nrrd
	V4L2_DIES=1 run -1 grab GREY -n 9 -o b.nrrd
	has "/dev/video77: is gone: No such device" <<<"$output"
}

@test "fringegrab: what is not there is named, in one line" {
	fails 1 "nosuch: not found (--list)" fringegrab --camera nosuch -o x.nrrd
	fails 1 "/dev/video99: cannot be opened: No such file or directory" fringegrab --camera /dev/video99 -o x.nrrd
	fails 2 "--exposure: wants milliseconds, or refreshes as 1r, not 'long'" fringegrab --exposure long -o x.nrrd
	fails 2 "--exposure: 2r: the refresh is not known here" fringegrab --exposure 2r -o x.nrrd
	fails 2 "--key: wants NAME=START,STEP, as stage_mm=0,5, not 'stage_mm=0'" fringegrab --key stage_mm=0 -o x.nrrd
	for key in a:b Stage cmd.1 "stage mm"; do
		fails 2 "--key: $key: a key has letters a to z, digits and _" fringegrab --key "$key=0,5" -o x.nrrd
	done
	for key in points frame_number time_s camera max_value exposure_time_s mosaic label; do
		fails 2 "--key: $key has a meaning of its own in a frame" fringegrab --key "$key=0,5" -o x.nrrd
	done
	fails 2 "a label has 63 bytes at most" fringegrab --camera "a=$(printf '%064d' 1)" -o x.nrrd
	fails 2 "--grab: 'raspistill' lacks the word %s" fringegrab --grab raspistill -o x.nrrd
	fails 2 "--grab: the command knows the camera" fringegrab --grab 'cp a %s' --format Mono8 -o x.nrrd
	fails 2 "--settled: is for a camera that runs freely" fringegrab --settled --average 2 -o x.nrrd
	fails 2 "--settled: is for a camera that runs freely" fringegrab --settled --trigger software -o x.nrrd
	fails 2 "a label names a folder" fringegrab --camera a=../b -o x.nrrd
	run -0 fringegrab --list
}

@test "fringegrab: -n 0 and holoserve are a preview in a browser: its picture is the camera's" {
	command -v chromium >/dev/null || skip "no browser: chromium is not here"
	start_screen 640x160
	start_camera noise=0
	fringegen -q -s 640x160 -n 3 -p 60 -o pat/
	fringeshow --loop pat/phase_00.png 3>&- 8>&- &
	eventually 20 shows pat/phase_00.png
	sleep 0.5
	fringegrab -q --camera 127.0.0.1 --format Mono12 --trigger software -o still.nrrd
	py '
import io, os, signal, subprocess
from PIL import Image
from browser import Browser
chain = subprocess.Popen("trap : TERM; fringegrab -q --camera 127.0.0.1 --format Mono12 --trigger software -n 0 | holoserve --port 0 --print-url", shell=True,
	stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True)
url = chain.stdout.readline().strip()
with Browser((640, 420)) as b:
	b.open(url)
	b.wait("window.fringepipe && fringepipe.count.shown >= 1")
	first, since = b.run("[fringepipe.count.shown, performance.now()]")
	b.wait("fringepipe.count.shown > %d" % (first + 1))
	last, now = b.run("[fringepipe.count.shown, performance.now()]")
	b.screenshot("page.png")
	bar = int(b.run("document.getElementById(\"bar\").getBoundingClientRect().top"))
	expect(b.errors == [], b.errors)
	expect("height" not in b.run("document.getElementById(\"size\").textContent"))
os.killpg(chain.pid, signal.SIGTERM)
expect(chain.wait() == 0, chain.stdout.read())
# the plane in the page: its pixels lie in a rectangle of the picture'\''s shape
page = np.array(Image.open("page.png").convert("L")).astype(float)
ys, xs = np.nonzero(abs(page[60:bar - 2] - page[100, 5]) > 3)
box = page[60:][ys.min():ys.max() + 1, xs.min():xs.max() + 1]
want = read_frame("still.nrrd").pixels[0] / 4095 * 255
seen = np.array(Image.fromarray(box).resize((320, 128), Image.BOX))
off = (seen - 0.985 * want)[4:-4, 4:-4]
print("# fringegrab: %.2g frames a second in the browser; its picture is off by %.1f of 255 rms, %dx%d px" % (
	1e3 * (last - first) / (now - since), off.std(), box.shape[1], box.shape[0]))
expect(abs(box.shape[1] / box.shape[0] - 2.5) < 0.1, box.shape)
expect(off.std() < 6 and abs(off.mean()) < 4, off.std(), off.mean())' >&3
}
