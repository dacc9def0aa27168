load ../agreement

# calibration FILE CAMERA_LENS PROJECTOR_LENS
calibration() {
	py '
import json
lens = [[float(v) for v in a.split(",") if v] for a in sys.argv[2:]]
c, s = np.cos(0.2), np.sin(0.2)
json.dump(dict(camera_K=[[1000, 0.4, 503], [0, 1005, 28], [0, 0, 1]], camera_dist=lens[0],
	projector_K=[[1500, 0, 480], [0, 1510, 300], [0, 0, 1]], projector_dist=lens[1],
	R_cam_to_proj=[[c, 0, s], [0, 1, 0], [-s, 0, c]], T_cam_to_proj_mm=[-120, 4, 15],
	projector_size=[960, 600]), open(sys.argv[1], "w"))' "$@"
}

@test "agree: phase2depth" {
	calibration plain.json "" ""
	calibration camera.json 0.08,-0.15,0.0012,-0.0007,0.05 ""
	calibration projector.json "" 0.08,-0.15,0.0012,-0.0007,0.05
	calibration both.json 0.08,-0.15,0.0012,-0.0007,0.05 \
		-0.28,0.12,-0.0008,0.001,-0.02,0.05,0.01,0.002,0.0006,-0.0003,-0.0004,0.0002
	calibration strong.json "" -1.6,2,0,0		# undone in eight steps
	calibration folds.json "" -6,0,0.001,0		# in the middle of what the camera sees
	# what fringecal writes, with a covariance of numbers that are independent
	py '
import json
for name in "camera.json", "plain.json":
	rig, n = json.load(open(name)), 24
	lens = (rig["camera_dist"] + [0] * 5)[:5]
	R, T = np.array(rig["R_cam_to_proj"]), np.array(rig["T_cam_to_proj_mm"])
	rig["devices"] = {
		"left": dict(kind="camera", model="opencv5", K=rig["camera_K"], dist=lens, R=np.eye(3).tolist(), T_mm=[0, 0, 0]),
		"lamp": dict(kind="projector", model="opencv5", K=rig["projector_K"], dist=[0] * 5, R=R.T.tolist(),
			T_mm=(-R.T @ T).tolist())}
	sd = ([1, 1, 2, 2, 1e-3, 1e-2, 1e-4, 1e-4, 1e-2] * 2) + [1e-3] * 3 + [0.1] * 3
	rig.update(frame="left", covariance=np.diag(np.square(sd)).tolist(),
		volume=dict(u=[0, 1000], v=[0, 60], z=[100, 900]))
	json.dump(rig, open("rig_" + name, "w"))'
	agrees phase2depth <<'CASES'
float absphase:20..150 sigma:0.01..0.1 | period_px:=36; axis:=x | phase2depth --calib rig_camera.json --calibration-sigma shape
float absphase:20..150 | period_px:=36; axis:=x | phase2depth --calib rig_plain.json --calibration-sigma place
float absphase:0..120 modulation:0..1 | | phase2depth -r second.nrrd -c 0.2 | float absphase:0..120
float absphase:0..120 | | phase2depth -r second.nrrd -c 0.2,-0.003,1e-5 --min-depth -5 --max-depth 9 | float absphase:0..120
float absphase:0..120 | | phase2depth --ref-plane 5,0.1,-0.03 -c 0.2
float absphase:0..120 | | phase2depth --ref-plane 5,0.1,-0.03 --c-map second.nrrd | float c1:0.1..0.3 c2:0..0.001
float phase:-3.14159..3.14159 modulation:0..1 | | phase2depth --wrapped -r second.nrrd -c 0.2 | float phase:-3.14159..3.14159
float phase:-3.14159..3.14159 | | phase2depth --wrapped -r second.nrrd -c 0.2,-0.003,1e-5 --min-depth -5 --max-depth 9 | float phase:-3.14159..3.14159
float phase:-3.14159..3.14159 | | phase2depth --wrapped --ref-plane 5,0.1,-0.03 -c 0.2
float absphase:0..120 sigma:0.01..0.1 | | phase2depth -r second.nrrd -c 0.2,-0.003,1e-5 | float absphase:0..120 sigma:0.01..0.1
float sigma:0.01..0.1 absphase:0..120 | | phase2depth --ref-plane 5,0.1,-0.03 --c-map second.nrrd | float c1:0.1..0.3 c2:0..0.001
float absphase:20..150 sigma:0.01..0.1 | period_px:=36; axis:=x | phase2depth --calib both.json
float absphase:20..150 sigma:0.01..0.1 | period_px:=36; axis:=x | phase2depth --calib strong.json
float absphase:20..150 residual:0..1 | period_px:=36; axis:=x | phase2depth --calib plain.json
float absphase:20..150 | period_px:=36; axis:=x | phase2depth --calib camera.json --max-depth 700
float absphase:20..150 | period_px:=36; axis:=x | phase2depth --calib projector.json
float absphase:20..150 | period_px:=36; axis:=x | phase2depth --calib both.json --origin 30,10
float absphase:20..150 | period_px:=36; axis:=x | phase2depth --calib folds.json
float absphase:20..150 | period_px:=36; axis:=x | phase2depth --calib strong.json
CASES
}
