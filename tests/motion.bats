load helpers

# Motion between the images of one measurement, against closed forms and the table of fringepipe-phase(7).

# wrap NAME KIND DELTA [OPTION ...]: the phase of a plane that moves, its truth and what phasewrap says.
wrap() {
	local kind=(-n "$2")
	[ "$2" != 2+1 ] || kind=(-k 2+1)
	fringesim -s 480x16 -p 24 --scene plane -c 1 -b float --ref-plane 20,0.2617993878,0 --motion "$3" \
		"${kind[@]}" --truth "$1.truth.nrrd" -o captures.nrrd
	phasewrap captures.nrrd -o "$1.nrrd" "${@:4}" 2>"$1.messages"
}

# Python: offset and ripple of the phase's error, two waves a fringe, and what else there is; to three digits.
ripple='
def ripple(name):
	truth = read_frame(name + ".truth.nrrd")["absphase"].astype(float)
	error = np.remainder(read_frame(name + ".nrrd")["phase"] - truth + np.pi, 2 * np.pi) - np.pi
	waves = [2 * abs(np.mean(error * np.exp(-1j * k * truth))) for k in (1, 2, 3)]
	return "%.3f" % error.mean(), "%.3f" % waves[1], "%.3f" % max(waves[0], waves[2])
'

@test "motion: what an even motion does to the phase, as the table of fringepipe-phase(7) has it" {
	local kind
	for kind in 2+1 3 4 5 8 12; do
		wrap $kind $kind 0.1
	done
	py "$ripple"'
rows = {}
table = open(sys.argv[1]).read().split(".Ss Motion between the images")[1].split(".El")[0]
for line in table.splitlines():
	word = line.replace(".It ", "").split(" Ta ")
	if len(word) == 4 and word[0] in ("2+1", "3", "4", "5", "8", "12"):
		rows[word[0]] = word[1:]
		if word[0] == "2+1": continue
		n, d = int(word[0]), 0.1
		expect(abs(float(word[1]) - (n - 1) / 2 * d) < 6e-4, line)
		expect(abs(float(word[2]) - np.arcsin(np.sin(d / 2) / np.sin(2 * np.pi / n + d / 2))) < 6e-4, line)
expect(len(rows) == 6, rows)
for kind, row in rows.items():
	expect(ripple(kind) == (row[0], row[1], "0.000"), kind, ripple(kind), "the page has", row)' "$top/man/fringepipe-phase.7"
}

@test "motion: it is named from four images on, and --shift takes it out" {
	wrap four 4 0.1
	[[ $(cat four.messages) =~ ^"phasewrap: the period 24 px: the steps seem to be 5."[67]" degrees longer: the surface moved evenly, or --shift is another (the fit is off by 0.11"[0-9]" of the amplitude, else by 0.00"[0-9]")"$ ]]
	wrap given 4 0.1 --shift 0,95.73,191.46,287.19
	py "$ripple"'
offset, wave, rest = ripple("given")
expect(offset in ("0.000", "-0.000") and wave == "0.000", offset, wave)'
	wrap eight 8 -0.05
	grep -q ": the steps seem to be 2.[89] degrees shorter: the surface moved evenly, or --shift is another" eight.messages
	# images that the motion brings round to the first: a repeated image would look the same
	wrap round 8 0.1
	grep -q ": image 1 .*and image 8 .*show the same: one of them is a duplicate, or the surface moved evenly, by +5.[678] degrees an image$" round.messages
	wrap still 5 0
	[ ! -s still.messages ]
	# what other steps explain as well is named with them
	fringesim -s 480x16 -p 24 --scene plane -c 1 -b float --ref-plane 20,0.2617993878,0 --motion -0.2 -n 8 --noise 3 |
		phasewrap 2>messages >phase.nrrd
	grep -q "8 images, but steps of about 360/11 degrees: --steps or --shift is another, or the surface moved evenly, by -11.[3-6] degrees an image" messages
}

@test "motion: the texture of a uniform surface; A + B has the ripple of B, A of steps half of it and the flat image none" {
	local from
	# B sqrt(1 - sin(2 phi + d) sin d) has a standard deviation of B sin(d) / sqrt 8: 8.79 levels
	wrap flat 2+1 0.252
	for from in max mean flat; do
		phasewrap --texture-from $from captures.nrrd -o 2+1.$from.nrrd 2>messages
	done
	wrap max 3 0.252
	for from in max mean; do
		phasewrap --texture-from $from captures.nrrd -o 3.$from.nrrd 2>messages
	done
	py '
for default, word in (("flat", "2+1.flat"), ("max", "3.max")):
	expect(read_frame(default + ".nrrd").pixels.tobytes() == read_frame(word + ".nrrd").pixels.tobytes(), word)
def ripple(name, key):
	f = read_frame(name + ".nrrd")
	expect(f.meta.get("texture_from") == key, name, f.meta)
	return f["texture"].astype(float).std()
expect(abs(ripple("2+1.max", None) - 8.79) < 0.09, ripple("2+1.max", None))
expect(ripple("2+1.mean", "mean") < 1e-4, ripple("2+1.mean", "mean"))
expect(ripple("2+1.flat", "flat") < 1e-4, ripple("2+1.flat", "flat"))
whole, mean = ripple("3.max", None), ripple("3.mean", "mean")
expect(4 < mean < whole, whole, mean)
phase = [read_frame("2+1.%s.nrrd" % k).pixels[:2] for k in ("max", "flat")]
expect(phase[0].tobytes() == phase[1].tobytes())'
}
