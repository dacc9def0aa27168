load helpers

@test "bench: measures a stage beside the copy bandwidth; speed itself is no test" {
	FRINGEPIPE_BIN=$(dirname "$(command -v median)") "$top/scripts/bench" --quick stage median >table
	cat table
	grep -E '^median +[0-9.]+ ms .* frames/s .* GB/s .*% of copy, floor [0-9.]+ ms' table
}

@test "bench: the table of a GPU: its copies, each stage, the chain" {
	need_gpu
	FRINGEPIPE_BIN=$(dirname "$(command -v median)") "$top/scripts/bench" --quick gpu >table
	cat table
	grep -E '^within its own memory [0-9.]+ GB/s$' table
	grep -E '^unwrap2f +[0-9.]+ ms .* [0-9.]+ GB/s +[0-9]+ % of copy; with its copies +[0-9.]+ ms$' table
	grep -E '^fringepipe: [0-9]+ frames on .*phasewrap .*normals .*a frame$' table
}
