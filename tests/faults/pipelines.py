"""The pipelines whose calls tests/faults/run makes fail, and the files that they read."""

# made once in the folder of inputs, with the tools that are tested; each line must succeed
INPUTS = """
fringesim -q -s 24x16 -p 8,9 -n 3 -c 2 --scene plane --seed 2 -o plate.nrrd
fringesim -q -s 24x16 -p 8,9 -n 3 -c 2 --scene relief --seed 1 --truth truth.nrrd -o png/
fringesim -q -s 24x16 -p 8,9 -n 3 -c 2 --scene relief --seed 1 -o set.tif
mkdir tiff jpeg npy patterns
framecat png -o tiff/%02d.tif
framecat png -o jpeg/%02d.jpg
framecat png -o npy/%02d.npy
framecat png -o set.nrrd
mkdir pnm
framecat png -o pnm/%02d.pgm
fringepipe phasewrap -n 3 --period 8,9 plate.nrrd , unwrap2f -o reference.nrrd
fringepipe phasewrap -n 3 --period 8,9 png , unwrap2f -o phase.nrrd
fringepipe phase2depth --ref reference.nrrd -c 2 phase.nrrd -o depth.nrrd
framecat depth.nrrd -o depth.ply
framecat --delete 'cmd*' depth.nrrd -o depth.obj
framecat depth.nrrd -o depth.stl
framecat --points depth.nrrd -o depth.csv
fringegen -s 24x16 -p 8 -n 3 -m list.vnl -o patterns/%02d.png
holoenc -P 8 depth.nrrd -o holo.png
holoenc -P 8 depth.nrrd -o holo.jpg
dither3 holo.png -o dithered.png
printf '0 0\\n0.25 0.1\\n1 1\\n' >tones.txt
printf 'axis period_px harmonic cosine sine\\n- - 2 0.1 0\\n' >harmonics.txt
fringesim -s 48x32 -p 8 -n 8 --gamma 1.8 --ambient 5 -o eight.nrrd
cp -r pnm damaged
head -c 200 pnm/01.pgm >damaged/01.pgm
head -c 3000 set.nrrd >cut.nrrd
for n in a a-0002 a; do framecat --set name=$n pnm/00.pgm; done >names.nrrd
chmod 644 png/* pnm/*
fringepipe phasewrap -q -n 3 --period 8,9 png -o wrapped.nrrd
touch empty.nrrd
printf '{"K1": [[40, 0, 12], [0, 40, 8], [0, 0, 1]], "K2": [[40, 0, 12], [0, 41, 8], [0, 0, 1]], "d2": [0.1, 0, 0, 0],' >pair.json
printf ' "R": [[1, 0, 0], [0, 1, 0], [0, 0, 1]], "T": [-90, 2, 0], "image_size": [24, 16]}' >>pair.json
fringesim -q --calib pair.json --view right --distance 700 -p 200 -n 3 -o pair.nrrd
fringesim -q --calib pair.json --view left --distance 700 --scene plane --picture --truth points.nrrd -o picture.png
printf '{"camera_K": [[120,0,48],[0,120,36],[0,0,1]], "projector_K": [[90,0,48],[0,90,36],[0,0,1]],' >board.json
printf '"R_cam_to_proj": [[1,0,0],[0,1,0],[0,0,1]], "T_cam_to_proj_mm": [-20,0,0]}' >>board.json
fringesim -q -s 96x72 -n 3 --calib board.json --scene board --board 5x4,15 --board-pose 10,5,0,0,0,150 -o board.nrrd
fringesim -q -s 96x72 -n 3 --calib board.json --scene board --board-kind circles --board 5x4,15 --board-pose 10,5,0,0,0,150 -o circles.nrrd
mkdir probe
fringesim -q -s 48x32 -p 12 -n 4 -o probe.nrrd
framecat --delete '*' --split probe.nrrd -o probe/%d.pgm
printf '{"camera_K": [[100,0,11.5],[0,100,7.5],[0,0,1]],\\n"laser_plane": [0.8,0,0.6,-60], "scan_direction": [1,0,0]}' > rig.json
printf 'u,v\\n3,4\\n11,2\\n12.5,9\\n' > lines.csv
printf 'x,y,z\\n0,0,100\\n3,1,96\\n3,7,96\\n-3,2,104\\n6,9,92\\n' > cloud.csv
printf '1 0 0 5\\n0 1 0 0\\n0 0 1 0\\n' > pose.txt
"""

# name: stages of a pipe; the one whose calls fail begins with @. {i} is the folder of inputs, OLD a file
# that is there before, LINK a symbolic link to a file that is not
PIPELINES = {
	"png": "@fringepipe phasewrap -q -n 3 --period 8,9 {i}/png -o OLD.nrrd",
	"tiff": "@fringepipe phasewrap -q -n 3 --period 8,9 {i}/tiff -o OLD.tif",
	"jpeg": "@fringepipe phasewrap -q -n 3 --period 8,9 {i}/jpeg -o OLD.npy",
	"pages": "@fringepipe phasewrap -q -n 3 --period 8,9 {i}/set.tif -o -",
	"manifest": "@fringepipe phasewrap -q -m {i}/list.vnl -o OLD.nrrd",
	"folder": "@fringepipe framecat {i}/png -o out/",
	"numbered": "@fringepipe framecat {i}/pnm -o x%04d.png",
	"numbered-jpeg": "@fringepipe framecat {i}/npy -o x%04d.jpg",
	"pnm": "@fringepipe framecat {i}/png -o %02d.pgm",
	"patterns": "@fringepipe fringegen -s 24x16 -p 8 -n 3 --lut {i}/tones.txt -g half -m OLD.vnl -o p%02d.png",
	"simulation": "@fringepipe fringesim -q -s 24x16 -p 8,9 -n 3 -c 2 --truth OLD.nrrd -o caps/",
	"stream-read": "framecat {i}/png | @fringepipe phasewrap -q -n 3 --period 8,9 -o OLD.nrrd",
	"stream-write": "@fringepipe framecat {i}/png | cat",
	"shared-write": "@fringepipe framecat {i}/png | framecat -o -",
	"spooled": "cat {i}/set.tif | @fringepipe framecat - -o OLD.nrrd",
	"chain": "@fringepipe -j 3 -q phasewrap -n 3 --period 8,9 {i}/png , gauss , unwrap2f , "
		"phase2depth --ref {i}/reference.nrrd -c 2 , normals , shade -o OLD.png",
	"matched": "@fringepipe -j 2 -q phasematch --assume-rectified --right {i}/reference.nrrd {i}/phase.nrrd -o OLD.nrrd",
	"rectified": "@fringepipe -q rectify --calib {i}/pair.json --side right {i}/pair.nrrd , phasewrap -o OLD.nrrd",
	"windows": "@fringepipe -q wff --sigma 3 {i}/wrapped.nrrd -o OLD.nrrd",
	"spatial": "@fringepipe -q unwrapq --channel phase1 --ref {i}/reference.nrrd {i}/wrapped.nrrd -o OLD.nrrd",
	"lines": "@fringepipe -q -j 2 steger --sigma 1 --threshold 1 --background {i}/pnm/01.pgm {i}/pnm/00.pgm -o OLD.csv",
	"fourier": "@fringepipe -j 2 -q fourierphase -F 1 --carrier 8 --order phase,flat {i}/pnm/00.pgm {i}/pnm/01.pgm "
		"-o OLD.nrrd",
	"points": "@fringepipe -q -j 2 laser2xyz --calib {i}/rig.json --step 1 --join {i}/lines.csv {i}/lines.csv -o OLD.ply",
	"texture": "@fringepipe -q -j 2 texmap --calib {i}/pair.json --camera left --image {i}/picture.png --supersample {i}/points.nrrd -o OLD.ply",
	"colour-picture": "@fringepipe -q -j 2 fringesim --calib {i}/pair.json --view right --distance 700 --paint checker --picture "
		"--truth OLD.nrrd -o caps/",
	"views": "@fringepipe -q -j 2 mergexyz --view {i}/cloud.csv --pose {i}/pose.txt --pose {i}/pose.txt --noise 2,9 --grid 3 "
		"{i}/cloud.csv -o OLD.ply",
	"laser-plane": "@lasercal plane -q --calib {i}/rig.json {i}/cloud.csv -o OLD.json",
	"laser-capture": "@fringepipe -q -j 2 fringesim --laser --calib {i}/rig.json -s 24x16 --scene plane --truth OLD.nrrd "
		"-o caps/",
	"sequence": "@fringepipe -q phasewrap -n 3 --period 8,9 {i}/png {i}/png , unwrap2f , "
		"phase2depth --ref {i}/reference.nrrd -c 2 , kalman -o OLD.nrrd",
	"shape": "@fitshape plane -q -j 2 --robust {i}/cloud.csv -o OLD.nrrd",
	"to-mesh": "@framecmp -j 2 --to {i}/depth.ply --table --deviation OLD.nrrd {i}/depth.nrrd",
	"board": "@fringepipe -q -j 2 boardfind --board 5x4,15 {i}/board.nrrd -o OLD.nrrd",
	"circles": "@fringepipe -q -j 1 boardfind --kind circles --board 5x4,15 {i}/circles.nrrd -o OLD.nrrd",
	"boards": "@fringepipe -q fringesim -s 24x16 -n 3 --calib {i}/board.json --scene board --board 3x3,30 "
		"--board-pose 0,0,0,0,0,400 --corners OLD.nrrd -o caps/",
	"response": "@fringepipe -q -j 2 fringegamma --lut OLD.txt {i}/eight.nrrd",
	"corrected": "@fringepipe -q phasewrap -n 3 --period 8,9 --harmonics {i}/harmonics.txt {i}/png -o OLD.nrrd",
	"fuse": "@fringepipe -q phasewrap -n 3 --period 8,9 {i}/png , unwrap2f --fuse --all -o OLD.nrrd",
	"sigma": "@fringepipe -q phasewrap -n 3 --period 8,9 --sigma --read-noise 1 {i}/png , gauss , unwrap2f --fuse , "
		"phase2depth --ref {i}/reference.nrrd -c 2 -o OLD.nrrd",
	"certain": "@fringepipe -q undither3 --keep {i}/dithered.png , holodec --keep -o OLD.nrrd",
	"lossy": "@fringepipe -q holodec --keep {i}/holo.jpg -o OLD.nrrd",
	"mesh-ply": "@fringepipe mesh2depth {i}/depth.ply -s 24x16 -o OLD.nrrd",
	"mesh-obj": "@fringepipe mesh2depth {i}/depth.obj -s 24x16 -o OLD.nrrd",
	"mesh-stl": "@fringepipe mesh2depth {i}/depth.stl -s 24x16 -o OLD.nrrd",
	"mesh-write": "@fringepipe framecat {i}/depth.nrrd -o OLD.ply",
	"obj-write": "@fringepipe framecat {i}/depth.nrrd -o OLD.obj",
	"table": "@fringepipe framecat {i}/depth.csv -o OLD.vnl",
	"calibration": "@fringepipe phase2depth -q --calib {i}/calib.json --period 8 {i}/phase.nrrd -o OLD.tif",
	"calibration-yaml": "@fringepipe phase2depth -q --calib {t}/samples/block.yml {i}/phase.nrrd -o OLD.ply",
	"holo": "@fringepipe holoenc -P 8 {i}/depth.nrrd , holodec -o OLD.nrrd",
	"holo-lossy": "@fringepipe holodec --blur 1 {i}/holo.jpg -o OLD.nrrd",
	"dither": "@fringepipe undither3 {i}/dithered.png -o OLD.nrrd",
	"dithering": "@fringepipe dither3 {i}/holo.png -o OLD.png",
	"arrange": "@fringepipe framecat --stack --set a=b,c=d --delete cmd* {i}/png -o OLD.tif",
	"like": "@fringepipe framecat --like {i}/depth.nrrd {i}/depth.csv -o OLD.nrrd",
	"compare-channels": "@fringepipe framecmp --channels depth:depth,modulation {i}/depth.nrrd {i}/depth.nrrd",
	"compare": "@fringepipe framecmp {i}/depth.nrrd {i}/depth.nrrd",
	"compare-tool": "@framecmp -v --table {i}/depth.nrrd {i}/depth.nrrd",
	"info": "@frameinfo {i}/depth.nrrd {i}/holo.png {i}/png",
	"probe": "@fringeprobe -q -j 1 {i}/probe -o OLD.txt",
	"probe-stream": "framecat {i}/probe | @fringeprobe -q -j 1 --json -o OLD.txt",
	"plot": "@frameplot {i}/depth.nrrd -o OLD.svg",
	"devices": "@fringepipe --devices",
	"synced": "@fringepipe framecat {i}/png -o OLD.tif",
	"names": "@fringepipe framecat {i}/names.nrrd -o out/",
	"link": "@fringepipe framecat {i}/phase.nrrd -o LINK.nrrd",
	"keep-going": "@fringepipe phasewrap --keep-going -q -n 3 --period 8,9 {i}/damaged {i}/pnm -o x%04d.nrrd",
	"keep-going-frames": "@fringepipe framecat --keep-going {i}/damaged -o x%04d.png",
	"keep-going-write": "@fringepipe framecat --keep-going {i}/damaged | cat",
	"failing-writer": "@fringepipe framecat {i}/cut.nrrd | framecat - -o OLD.nrrd",
	"failed-stream": "framecat {i}/damaged | @fringepipe framecat - -o OLD.nrrd",
	"failed-at-once": "framecat {i}/empty.nrrd | @fringepipe gauss - -o OLD.nrrd",
	"fresh-cache": "@fringepipe -d gpu -q phasewrap -n 3 --period 8,9 {i}/png -o OLD.nrrd",
	"gpu": "@fringepipe -d gpu -q phasewrap -n 3 --period 8,9 {i}/png , gauss , unwrap2f -o OLD.nrrd",
	"gpu-flow": "@fringepipe -d gpu undither3 {i}/dithered.png -o OLD.nrrd",
}
# only the program's own calls count: these libraries end the process themselves
OWN_CALLS = {"plot", "gpu", "gpu-flow", "devices", "fresh-cache"}
# without a fault they exit with 1, too, and their neighbours that come behind
FAILING = {"keep-going", "keep-going-frames", "keep-going-write", "failing-writer", "failed-stream", "failed-at-once"}
# a line for each frame that is lost, and one at the end
KEEPING = {"keep-going", "keep-going-frames", "keep-going-write"}
# what they write goes to the disk, as it does outside of tests
SYNCED = {"synced", "names", "link", "table", "numbered-jpeg"}
# with no cache before it
FRESH = {"fresh-cache"}

# findings in code that is not of this project, or that harm nobody: function, what was wrong, a pattern of the place
KNOWN = [
	("realloc", "ends by SIGSEGV", "tiff.c", "libtiff 4.5 loses count of its custom tags"),
	("realloc", "sanitizer: AddressSanitizer:DEADLYSIGNAL", "tiff.c", "the same, in TIFFFreeDirectory"),
	("vkCreateInstance", "exit 0 and another standard output", "list_devices", "counts as no GPU"),
	("vkEnumeratePhysicalDevices", "exit 0 and another standard output", "list_devices", "the same"),
	("stat", "wrong file", "put_folder", "files are named by a pattern then, not by their folder"),
]

# the share of scripts/check
QUICK = { "png", "tiff", "jpeg", "manifest", "folder", "numbered", "patterns", "stream-read", "stream-write",
	"shared-write", "spooled", "chain", "mesh-ply", "mesh-obj", "table", "calibration", "holo", "info",
	"names", "link", "probe", "keep-going", "failing-writer", "failed-stream" }

CALIBRATION = """{ "camera_K": [[1000, 0, 15], [0, 1005, 6], [0, 0, 1]], "camera_dist": [0.08, -0.15, 0, 0],
"projector_K": [[1500, 0, 480], [0, 1510, 300], [0, 0, 1]], "projector_dist": [],
"R_cam_to_proj": [[0.9800665778412416, 0, 0.19866933079506122], [0, 1, 0], [-0.19866933079506122, 0, 0.9800665778412416]],
"T_cam_to_proj_mm": [-120, 4, 15], "projector_size": [960, 600] }
"""
