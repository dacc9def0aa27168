# The part `calib` of scripts/bench: the corners of a chessboard beside OpenCV's, in one run, and how far both are
# from the truth; then fringecal's solve beside OpenCV's and mrcal's. Sourced by it, behind bench-phase.sh, whose add_ours and add_peer it takes.
# shellcheck shell=bash disable=SC2034,SC2086,SC2154	# its variables and words

# SIZE.board.nrrd: a tilted board of 11x8 squares with noise 2; SIZE.corners.nrrd: the truth.
make_board() {
	calibration "$1" 0,0,0,0,0 >"$1.board.json"
	fringesim -q -s "$1" -n 3 --mean 0 --amplitude 0 --ambient 220 --calib "$1.board.json" --scene board \
		--board 11x8,15 --board-pose 20,-15,10,0,0,400 --noise 2 --corners "$1.corners.nrrd" |
		framecat -q --frames 0 --delete '*' -o "$1.board.nrrd"
}

part_calib() {
	local size i ours partner=() moved=()

	install_peers
	for size in 1280x960 2448x2048; do
		heading "$size, corners of 11x8, $cores cores: floor 60 ms of one core for 1280x960"
		make_board "$size"
		add_ours "boardfind" boardfind -q --board 11x8,15 "$size.board.nrrd"
		add_peer "OpenCV, findChessboardCorners, cornerSubPix" chessboard "$size.board.nrrd"
		measure
		for i in "${!case[@]}"; do
			if [ -z "${partner[i]}" ]; then
				line "$i" "$(pixels "$size")" 0
			else
				ratio_line "$i" 0
			fi
		done
		forget
		boardfind -q --board 11x8,15 "$size.board.nrrd" -o "$size.found.nrrd"
		/usr/bin/python3 "$top/scripts/bench-peers/peers.py" corners "$size.board.nrrd" \
			"$size.found.nrrd" "$size.corners.nrrd"
	done
	if command -v fringecal >/dev/null; then
		heading "joint solve, $cores cores: floor 0.1 s of one core"
		/usr/bin/python3 "$top/scripts/bench-calib.py"
	fi
}
