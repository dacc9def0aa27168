/* The index of an MP4 or QuickTime file (ISO/IEC 14496-12): tags, and for each video track the codec and the place,
   the time and the kind of each sample. It reads the heads of boxes and the box moov, not the pictures. Numbers are
   big-endian. An Error in words says what is wrong with a file. */

const MOOV_MOST = 1 << 25;	/* bytes; an index of a million samples is smaller */
const SAMPLES_MOST = 1 << 20;	/* of a track; nine hours at 30 pictures a second */
const TRACKS_MOST = 8;		/* depthenc and holoenc write three at most */

function box_name(view, at) {
	return String.fromCharCode(...[0, 1, 2, 3].map(i => view.getUint8(at + i)));
}

/* The boxes between two places of a DataView: [name, start, end] of the content of each. */
function boxes_of(view, at, end) {
	const found = [];
	while (at + 8 <= end) {
		let size = view.getUint32(at), head = 8;
		if (size === 1) {
			size = Number(view.getBigUint64(at + 8));
			head = 16;
		} else if (size === 0) {
			size = end - at;
		}
		if (size < head || at + size > end)
			throw new Error("its index is damaged");
		found.push([box_name(view, at + 4), at + head, at + size]);
		at += size;
	}
	return found;
}

/* The content of the first box along a path such as "mdia/minf/stbl": [start, end], or null. */
function box_at(view, [start, end], path) {
	for (const name of path.split("/")) {
		const box = boxes_of(view, start, end).find(b => b[0] === name);
		if (!box)
			return null;
		[, start, end] = box;
	}
	return [start, end];
}

/* The box moov as a DataView, wherever it lies in the file. */
async function read_moov(file) {
	for (let at = 0; at + 8 <= file.size;) {
		const view = new DataView(await file.slice(at, at + 16).arrayBuffer()), name = box_name(view, 4);
		let size = view.getUint32(0), head = 8;
		if (size === 1 && view.byteLength === 16) {
			size = Number(view.getBigUint64(8));
			head = 16;
		} else if (size === 0) {
			size = file.size - at;
		}
		if (size < head || at + size > file.size)
			throw new Error("it is cut: its last part is missing");
		if (name === "moov" && size <= MOOV_MOST)
			return new DataView(await file.slice(at + head, at + size).arrayBuffer());
		at += size;
	}
	throw new Error("it is cut: its index, which comes last, is missing");
}

/* The tags that ffmpeg writes by use_metadata_tags: the box keys has names, and ilst values by their number. */
function read_tags(view) {
	const tags = {}, moov = [0, view.byteLength];
	const meta = box_at(view, moov, "meta") || box_at(view, moov, "udta/meta");
	if (!meta)
		return tags;
	if (box_name(view, meta[0] + 4) !== "hdlr")	/* in MP4 four bytes of version and flags come first */
		meta[0] += 4;
	const keys = box_at(view, meta, "keys"), list = box_at(view, meta, "ilst"), names = [], utf8 = new TextDecoder();
	if (!keys || !list)
		return tags;
	for (let at = keys[0] + 8; at + 8 <= keys[1]; at += view.getUint32(at)) {
		const size = view.getUint32(at);
		if (size < 8 || at + size > keys[1])
			throw new Error("its index is damaged");
		names.push(utf8.decode(new Uint8Array(view.buffer, at + 8, size - 8)).toLowerCase());
	}
	for (const [, start, end] of boxes_of(view, ...list)) {
		const data = box_at(view, [start, end], "data"), name = names[view.getUint32(start - 4) - 1];
		if (data && name)
			tags[name] = utf8.decode(new Uint8Array(view.buffer, data[0] + 8, data[1] - data[0] - 8));
	}
	return tags;
}

/* The codec as WebCodecs names it, of the box that configures it. */
function codec_name(format, view, at) {
	const hex = (v, digits) => v.toString(16).toUpperCase().padStart(digits, "0");
	const byte = i => view.getUint8(at + i);
	if (format === "avc1")
		return "avc1." + [1, 2, 3].map(i => hex(byte(i), 2)).join("");
	if (format === "av01")
		return `av01.${byte(1) >> 5}.${String(byte(1) & 31).padStart(2, "0")}${byte(2) & 128 ? "H" : "M"}.` +
			(byte(2) & 64 ? (byte(2) & 32 ? "12" : "10") : "08");
	let compatible = 0;
	for (let i = 0; i < 32; i++)
		compatible |= (view.getUint32(at + 2) >>> i & 1) << 31 - i;
	const constraints = [6, 7, 8, 9, 10, 11].map(byte);
	while (constraints.length && !constraints[constraints.length - 1])
		constraints.pop();
	return [format, (byte(1) & 31), (compatible >>> 0).toString(16).toUpperCase(),
		(byte(1) & 32 ? "H" : "L") + byte(12), ...constraints.map(v => hex(v, 2))].join(".");
}

/* A track of video; null for one of another kind. Samples are in the order of decoding; rank is the place in which
   one is shown, from 0. file_size: in bytes; all samples lie within. */
function read_track(view, trak, file_size) {
	const handler = box_at(view, trak, "mdia/hdlr"), stbl = box_at(view, trak, "mdia/minf/stbl");
	if (!handler || !stbl || box_name(view, handler[0] + 8) !== "vide")
		return null;
	const table = name => box_at(view, stbl, name), long = (box, i) => view.getUint32(box[0] + 4 + 4 * i);
	const mdhd = box_at(view, trak, "mdia/mdhd"), wide = view.getUint8(mdhd[0]) === 1;
	const [format, entry, entry_end] = boxes_of(view, table("stsd")[0] + 8, table("stsd")[1])[0];
	const settings = { avc1: "avcC", av01: "av1C", hvc1: "hvcC", hev1: "hvcC" }[format];
	const track = { format, width: view.getUint16(entry + 24), height: view.getUint16(entry + 26), codec: null, samples: [] };
	const box = settings && box_at(view, [entry + 78, entry_end], settings);
	if (box)
		Object.assign(track, { codec: codec_name(format, view, box[0]),
			description: new Uint8Array(view.buffer, box[0], box[1] - box[0]) });
	const stsz = table("stsz"), stsc = table("stsc"), stts = table("stts"), ctts = table("ctts"), stss = table("stss");
	const chunks = table("stco") || table("co64"), eight = !table("stco"), all = track.samples, n = long(stsz, 1);
	if (n > SAMPLES_MOST)
		throw new Error("its index is damaged");
	for (let chunk = 0, row = 0; chunk < long(chunks, 0); chunk++) {
		while (row + 1 < long(stsc, 0) && long(stsc, 4 + 3 * row) <= chunk + 1)
			row++;
		let offset = eight ? Number(view.getBigUint64(chunks[0] + 8 + 8 * chunk)) : long(chunks, 1 + chunk);
		for (let i = 0; i < long(stsc, 2 + 3 * row) && all.length < n; i++) {
			const size = long(stsz, 0) || long(stsz, 2 + all.length);
			if (offset + size > file_size)
				throw new Error("it is cut, or its index is damaged: a picture lies outside of the file");
			all.push({ offset, size, key: !stss, shown: 0, rank: 0 });
			offset += size;
		}
	}
	const runs = (box, take) => {
		for (let row = 0, i = 0; box && row < long(box, 0); row++)
			for (let k = 0; k < long(box, 1 + 2 * row) && i < all.length; k++)
				take(all[i++], view.getInt32(box[0] + 12 + 8 * row));
	};
	let time = 0;
	runs(stts, (sample, length) => { sample.shown = time; time += length; });
	runs(ctts, (sample, later) => { sample.shown += later; });
	for (let i = 0; stss && i < long(stss, 0); i++)
		if (all[long(stss, 1 + i) - 1])
			all[long(stss, 1 + i) - 1].key = true;
	[...all].sort((a, b) => a.shown - b.shown).forEach((sample, rank) => { sample.rank = rank; });
	track.seconds = time / view.getUint32(mdhd[0] + (wide ? 20 : 12));
	return track;
}

/* { tags, tracks } of a File or Blob. */
async function read_mp4(file) {
	const view = await read_moov(file);
	try {
		const boxes = boxes_of(view, 0, view.byteLength), traks = boxes.filter(b => b[0] === "trak");
		if (boxes.some(b => b[0] === "mvex"))
			throw new Error("it is a fragmented MP4, whose index is in many pieces; depthenc and holoenc write it in one");
		if (traks.length > TRACKS_MOST)
			throw new Error(`it has ${traks.length} tracks; depthenc and holoenc write three at most`);
		return { tags: read_tags(view), tracks: traks.map(b => read_track(view, b.slice(1), file.size)).filter(Boolean) };
	} catch (error) {
		throw error instanceof RangeError || error instanceof TypeError ? new Error("its index is damaged") : error;
	}
}
