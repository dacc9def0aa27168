load helpers

@test "bench: measures a stage beside the copy bandwidth; speed itself is no test" {
	FRINGEPIPE_BIN=$(dirname "$(command -v median)") "$top/scripts/bench" --quick stage median >table
	cat table
	grep -E '^median +[0-9.]+ ms .* frames/s .* GB/s .*% of copy, floor [0-9.]+ ms' table
}
