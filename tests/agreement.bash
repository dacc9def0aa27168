# Processor and GPU agree: every stage that has a shader, on random frames of awkward sizes with NaN
# sprinkled in, within the tolerance that the stage declares (fringepipe --agreement), under the
# validation layer with its checks of synchronisation. Loaded by tests/agree/NAME.bats.
load ../helpers

setup_file() {
	export XDG_CACHE_HOME=$BATS_FILE_TMPDIR		# of compiled shaders
}

# frames_to FILE CHANNELS METADATA SEED ...: into each file a stream of one frame of each size.
frames_to() {
	py '
for path, channels, meta, seed in zip(*[iter(sys.argv[1:])] * 4):
	spec = channels.split()
	kind = {"uchar": "u1", "ushort": "<u2", "float": "<f4"}[spec[0]]
	names = [c.split(":")[0] for c in spec[1:]]
	ranges = [[float(v) for v in c.split(":")[1].split("..")] for c in spec[1:]]
	keys = dict(k.strip().split(":=") for k in meta.split(";") if k.strip())
	rng = np.random.default_rng(int(seed))
	out = []
	for w, h in ((1, 1), (5, 7), (127, 1), (129, 65), (1000, 3), (64, 40)):
		planes = np.stack([rng.uniform(lo, hi, (h, w)) for lo, hi in ranges])
		if kind == "<f4":
			if keys.pop("whole", None): planes = np.round(planes)
			if w > 1: planes[rng.random(planes.shape) < 0.03] = np.nan
		else:
			planes = np.round(planes)
		out.append(Frame(planes.astype(kind), names, keys))
	write_frames(path, out)' "$@"
}

frames() {	# CHANNELS METADATA
	frames_to /dev/stdout "$@" 7
}

# same NAME A B: as closely as stage NAME declares.
same() {
	local how tolerance
	read -r how tolerance < <(fringepipe --agreement | awk -v n="$1" '$1 == n { print $2, $3 }')
	case $how in
	exact) cmp "$2" "$3" ;;
	absolute) framecmp --max "$tolerance" --meta "$2" "$3" ;;
	relative) framecmp --relative "$tolerance" --meta "$2" "$3" ;;
	*) false ;;
	esac
}

# varied NAME FILE ...: stage NAME's results have several values; those that are all missing, or all alike, agree by themselves.
varied() {
	py '
for path in sys.argv[2:]:
	frames = read_frames(path)
	different = []
	for k in range(len(frames[0].names)):
		values = np.concatenate([f.pixels[k].ravel() for f in frames])
		different.append(len(np.unique(values[np.isfinite(values)])))
	enough = max if sys.argv[1] == "dither3" else min	# its packs leave planes empty
	expect(min(different) > 0 and enough(different) > 1, "one value, or none:", path, frames[0].names, different)' "$@"
}

# agrees_on NAME FILE WORDS ...: the stage's words on a file's frames, with and without copies to the
# device, whole and in bands.
agrees_on() {
	local name=$1 file=$2
	shift 2
	need_gpu
	export FRINGEPIPE_GPU_CHECK=1
	fringepipe -d cpu "$@" "$file" >cpu.nrrd || { echo "fails: $*"; return 1; }
	fringepipe -v -d gpu "$@" "$file" >gpu.nrrd 2>messages || { echo "fails on the GPU: $*"; cat messages; return 1; }
	grep -q 'frames on ' messages || { echo "did not run on the GPU: $*"; cat messages; return 1; }
	if grep 'runs on the processor' messages; then return 1; fi
	[ -n "${together-}" ] || varied "$name" cpu.nrrd || { echo "of: $*"; return 1; }
	same "$name" cpu.nrrd gpu.nrrd || { echo "differs: $*"; return 1; }
	# with copies, in bands and whole: one of them by turns, both by make agree-all
	local bands=(7 "") band
	[ -n "${AGREE_ALL-}" ] || bands=("${bands[runs++ % 2]}")
	for band in "${bands[@]}"; do
		env FRINGEPIPE_GPU_COPY=1 ${band:+FRINGEPIPE_BAND=$band} fringepipe -d gpu "$@" "$file" | cmp - gpu.nrrd ||
			{ echo "differs with copies${band:+, in bands of $band rows}: $*"; return 1; }
	done
}
runs=0

# agrees NAME: the cases on standard input, on random frames. A case is a line
# "TYPE CHANNEL:LOW..HIGH ... | KEY:=VALUE; ... | WORDS of the stage", maybe followed by
# "| TYPE CHANNEL:LOW..HIGH ..." of a file second.nrrd that the words name. Of more than five every second, third ... one
# is taken, so that there are five at most, and all by make agree-all.
agrees() {
	local channels meta words second inputs=() results=() cases step=1 i together=1
	need_gpu
	mapfile -t cases < <(grep .)
	[ -n "${AGREE_ALL-}" ] || step=$(((${#cases[@]} + 4) / 5))
	for ((i = 0; i < ${#cases[@]}; i += step)); do
		IFS='|' read -r channels meta words second <<<"${cases[i]}"
		inputs+=("in.$i.nrrd" "$channels" "$meta" 7)
		[ -z "$second" ] || inputs+=("second.$i.nrrd" "$second" '' 8)
	done
	frames_to "${inputs[@]}"
	for ((i = 0; i < ${#cases[@]}; i += step)); do
		IFS='|' read -r channels meta words second <<<"${cases[i]}"
		[ -z "$second" ] || mv "second.$i.nrrd" second.nrrd
		# shellcheck disable=SC2086
		agrees_on "$1" "in.$i.nrrd" $words || return 1
		mv cpu.nrrd "cpu.$i.nrrd"
		results+=("cpu.$i.nrrd")
	done
	varied "$1" "${results[@]}" || { printf '%s\n' "${cases[@]}"; return 1; }
}
