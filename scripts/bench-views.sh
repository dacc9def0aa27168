# The part `views` of scripts/bench: views to one cloud, beside NumPy and SciPy (cKDTree) on the same input, in turns.
# Sourced by it.
# shellcheck shell=bash disable=SC2154	# its variables

view_rows=(icp texmap grid noise splat shapes)

part_views() {
	local row

	mkdir -p views
	/usr/bin/python3 -c 'import scipy' 2>/dev/null || install python3-scipy
	[ ${#wanted[@]} -gt 0 ] || wanted=("${view_rows[@]}")
	for row in "${wanted[@]}"; do
		[[ " ${view_rows[*]} " = *" $row "* ]] || usage
		case $row in
		splat)
			heading "two cameras behind one projector to one ordered frame"
			in_python splat "$bin" views "$rounds" ;;
		shapes)
			heading "shapes and distances from a mesh"
			in_python shapes "$bin" views "$rounds" ;;
		*)
			heading "$row; times of a run less those of one that only reads and writes"
			in_python views "$bin" views "$rounds" "$row" ;;
		esac
	done
}
