# What tools refuse, that no test of theirs reaches: options that contradict each other or the input, and damaged files.
load helpers

@test "refused: options that contradict each other" {
	images
	phase
	FRINGEPIPE_CPU=v5 fails 2 "FRINGEPIPE_CPU: names no instruction level: v5" median phase.nrrd
	fails 2 "--mirrored: a negative --carrier says it" fourierphase --carrier 8 --mirrored images.nrrd
	fails 2 "--flat-removal: there is no flat image: give --flats" fourierphase -p 8 --flat-removal quotient images.nrrd
	fails 2 "--keep and --certainty belong to --filter=fit" undither3 --filter gauss --keep images.nrrd
	fails 2 "--keep drops nothing, give it or --certainty" undither3 --keep --certainty 0.5 images.nrrd
	fails 2 "--keep drops nothing, give it or --certainty" holodec --keep --certainty 0.5 images.nrrd
	fails 2 "QuickTime holds no av1: .mkv and .mp4 do" framecat --video av1 images.nrrd -o out.mov
	fails 2 "--sizes: wants WxH, not '12'" fringecal --sizes 12 corners.nrrd
}

@test "refused: options that the input has no use for" {
	images
	phase
	fails 1 "one phase: nothing can vote" phasematch --vote 1 --right phase.nrrd phase.nrrd
	printf '%s\n' "# file role axis period_px step" "a phase x 8 0" "b phase x 8 1" "c phase x 8 3" >gap.vnl
	fails 1 "step 3 of 3 has no shift: give --shift" phasewrap --manifest gap.vnl images.nrrd
	py 'write_frames("many.nrrd", Frame(np.zeros((17, 2, 5), "f4"), ["phase%d" % (i + 1) for i in range(17)],
	{"period_px": " ".join(str(20 + i) for i in range(17))}))'
	fails 1 "17 phases, at most 16" unwrap2f many.nrrd
}

@test "refused: files of a kind that is not known, or damaged" {
	py '
from PIL import Image
Image.fromarray(np.zeros((4, 5, 4), "u1"), "CMYK").save("cmyk.tif")
open("zero.yml", "wb").write(b"M1: [1, 0\0]\n")
np.save("K.npy", np.eye(3))
np.savez("rig.npz", camera_K=np.eye(3))
open("rig.mat", "wb").write(b"MATLAB 5.0 MAT-file, Platform: GLNXA64".ljust(124) + b"\0\1IM")
open("list.json", "w").write("[[1100, 0, 320], [0, 1100, 240], [0, 0, 1]]")
open("objects.json", "w").write("[{\"camera_K\": [1100, 0, 320, 0, 1100, 240, 0, 0, 1]}]")
open("items.yml", "w").write("%YAML:1.0\n---\n- camera_K: [1, 2]\n")'
	phase
	fails 1 "cmyk.tif: TIFF colour space 5 is not grey, RGB or a palette" framecat cmyk.tif
	for file in K.npy rig.npz; do
		fails 1 "and calibrations are text: json.dump({\"camera_K\": K.tolist(), ...}, file) writes JSON" phase2depth --calib $file phase.nrrd
	done
	fails 1 "rig.mat: is a MATLAB file, and calibrations are text: writelines(jsonencode(rig), \"rig.json\") writes JSON" \
		phase2depth --calib rig.mat phase.nrrd
	for file in "list.json: line 1" "objects.json: line 1" "items.yml: line 3"; do
		fails 1 "$file: expected entries with names, as {\"camera_K\": [...]}, not a list of them" \
			phase2depth --calib "${file%%:*}" phase.nrrd
	done
	fails 1 "zero.yml: no text: it holds a zero byte" phase2depth --calib zero.yml phase.nrrd
	printf '%s\n' "# file role period_px marker_px" "a.png marker 20 -3" >list.vnl
	fails 1 "list.vnl line 2: marker_px is below 0: -3" phasewrap --manifest list.vnl phase.nrrd
}

images() {
	py 'write_frames("images.nrrd", Frame(np.full((3, 9, 40), 99, "u1"), ["image"] * 3))'
}

phase() {
	py 'write_frames("phase.nrrd", Frame(np.zeros((9, 40), "f4"), ["absphase"], {"period_px": "20"}))'
}
