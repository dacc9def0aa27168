/* A surface in a browser: holoserve's page and the manual's viewer have it in common (both take it in by
   common/live/embed). Pictures or the planes of a video become depth by holoimage(5) and depthcode(5) on the graphics
   processor, which draws it lit; mouse, fingers and keys turn it. A page has the elements of surface.html and
   buttons.html and the functions show_size() and pause_changed(). */

const $ = id => document.getElementById(id);
const canvas = $("view");
const RAMP = [[38, 30, 92], [42, 98, 160], [34, 156, 146], [132, 198, 92], [250, 228, 80]];
const PIXELS_MOST = 1 << 26;	/* of a picture; depth, normals and colours take up to 1.9 GB of the graphics processor */
const TRIANGLES_PER_MESH = 1 << 22;	/* pictures with more are drawn by every second pixel, or third */

/* ---- shaders ---- */

const HEAD = `#version 300 es
precision highp float;
precision highp int;
precision highp sampler2D;
#define NONE -1e30
#define MISSING(v) ((v) < -1e29)
`;
const WHOLE = HEAD + `
void main() { gl_Position = vec4(gl_VertexID == 1 ? 3 : -1, gl_VertexID == 2 ? 3 : -1, 0, 1); }`;

/* holoimage(5), "Reading a pixel": turns t = k + rest */
const READ = HEAD + `
uniform sampler2D picture;
uniform ivec3 channel;		/* of sine, cosine, stair */
uniform vec4 stair;		/* height S, base, swing, cosine turns */
uniform float order_most;
out float turns;
void main() {
	vec4 level = texelFetch(picture, ivec2(gl_FragCoord.xy), 0) * 255.0;
	float sine = level[channel.x], cosine = level[channel.y];
	float rest = atan(sine - 127.5, cosine - 127.5) / 6.283185307;
	rest += rest < 0.0 ? 1.0 : 0.0;
	float b = stair.y - stair.z * cos(6.283185307 * stair.w * rest);
	float k = clamp(floor((level[channel.z] - b) / stair.x + 0.5), 0.0, order_most);
	turns = sine + cosine < 38.25 ? NONE : k + rest;
}`;

/* Levels of the planes of a video; colours of half the resolution lie between the pixels, and are doubled as
   frame(5) says. Levels of more than 8 bits come as two bytes. */
const LEVELS = HEAD + `
uniform sampler2D luma, chroma_u, chroma_v;
uniform bool wide;
uniform ivec2 halved;		/* 1: colours have half of the columns, of the rows */
uniform float level_most;
float level(sampler2D plane, ivec2 p) {
	return floor(dot(texelFetch(plane, p, 0).rg, vec2(255, wide ? 65280 : 0)) + 0.5);
}
float between(sampler2D plane, ivec2 p) {
	ivec2 at = p >> halved, most = textureSize(plane, 0) - 1;
	ivec2 q = clamp(at + ((p & 1) * 2 - 1) * halved, ivec2(0), most);
	float sum = 9.0 * level(plane, at) + 3.0 * (level(plane, ivec2(q.x, at.y)) + level(plane, ivec2(at.x, q.y))) + level(plane, q);
	return floor((sum + 7.0 + float(p.x & 1)) / 16.0);
}`;

/* The planes of a video as a picture. */
const PLANES = LEVELS + `
uniform int coloured;		/* from this row on luma and colours are red, green and blue by BT.709 */
out vec4 colour;
void main() {
	ivec2 p = ivec2(gl_FragCoord.xy);
	colour = vec4(vec3(level(luma, p), between(chroma_u, p), between(chroma_v, p)) / level_most, 1);
	vec3 c = colour.rgb - vec3(0, 1, 1) * (level_most + 1.0) / 2.0 / level_most;
	float r = c.x + 1.5748 * c.z, b = c.x + 1.8556 * c.y;
	if (p.y >= coloured)
		colour.rgb = vec3(r, (c.x - 0.2126 * r - 0.0722 * b) / 0.7152, b);
}`;

/* depthcode(5): z times the number of fringes, or of levels where there are none, in the place of turns */
const CODE = LEVELS + `
uniform sampler2D mask;
uniform int fine;		/* 0 luma, 1 mwd, 2 fold */
uniform bool masked;
uniform float guard, fringes;
out float turns;
void main() {
	ivec2 p = ivec2(gl_FragCoord.xy);
	float l = level(luma, p), span = level_most - guard, centre = (level_most + 1.0) / 2.0;
	float c = clamp((l - guard) / span, 0.0, 1.0), z = c;
	if (fine == 1) {
		float r = atan(between(chroma_u, p) - centre, between(chroma_v, p) - centre) / 6.283185307;
		z = (floor(fringes * c - r + 0.5) + r) / fringes;
	} else if (fine == 2) {
		float coarse = between(chroma_u, p) / level_most, nearest = 2.0;
		for (float odd = 1.0; odd >= 0.0; odd--)	/* of two as near the even one wins, then the higher */
			for (float k = odd; k < fringes; k += 2.0) {
				float at = (k + (odd == 1.0 ? 1.0 - c : c)) / fringes;
				if (abs(at - coarse) <= nearest) {
					nearest = abs(at - coarse);
					z = at;
				}
			}
	}
	bool hole = masked ? texelFetch(mask, p, 0).r == 0.0 : l < guard / 2.0;
	turns = hole ? NONE : clamp(z, 0.0, 1.0) * (fine == 0 ? span : fringes);
}`;

/* Whole turns off the median of five in a row or a column are taken away. */
const UNSPIKE = HEAD + `
uniform sampler2D source;
uniform ivec2 size, along;
out float turns;
float middle;
float at(ivec2 p) {
	if (any(lessThan(p, ivec2(0))) || any(greaterThanEqual(p, size)))
		return middle;
	float t = texelFetch(source, p, 0).r;
	return MISSING(t) ? middle : t;
}
void main() {
	ivec2 p = ivec2(gl_FragCoord.xy);
	middle = texelFetch(source, p, 0).r;
	float a = at(p - 2 * along), b = at(p - along), c = at(p + along), d = at(p + 2 * along);
	float f = max(min(a, b), min(c, d)), g = min(max(a, b), max(c, d));
	float median = max(min(f, g), min(max(f, g), middle));
	turns = MISSING(middle) ? NONE : middle - floor(middle - median + 0.5);
}`;

/* Drops what has background within `reach` pixels, and what lies outside of the cube. */
const EDGE = HEAD + `
uniform sampler2D source;
uniform ivec2 size;
uniform int reach;
uniform vec3 code;		/* turns per column, turns per depth, slack in depth */
out float turns;
void main() {
	ivec2 p = ivec2(gl_FragCoord.xy);
	turns = texelFetch(source, p, 0).r;
	float z = (turns - float(p.x) * code.x) / code.y;
	bool bad = MISSING(turns) || z < -code.z || z > 1.0 + code.z;
	for (int y = -reach; y <= reach; y++)
		for (int x = -reach; x <= reach; x++) {
			ivec2 q = p + ivec2(x, y);
			if (all(greaterThanEqual(q, ivec2(0))) && all(lessThan(q, size)))
				bad = bad || MISSING(texelFetch(source, q, 0).r);
		}
	turns = bad ? NONE : turns;
}`;

/* Gaussian of 3 x 3, then depth. Two neighbours opposite each other count if both exist and the
   surface bends no more than noise does: holes, jumps and slopes stay as they are. */
const SMOOTH = HEAD + `
uniform sampler2D source;
uniform ivec2 size;
uniform float bend;		/* in turns */
uniform vec4 code;		/* turns per column, turns per depth, depth at 0 and at 1 */
out float depth;
float at(ivec2 p) {
	if (any(lessThan(p, ivec2(0))) || any(greaterThanEqual(p, size)))
		return NONE;
	return texelFetch(source, p, 0).r;
}
void main() {
	ivec2 p = ivec2(gl_FragCoord.xy);
	float t = at(p), sum = 0.0, weights = 4.0;
	for (int i = 0; i < 4; i++) {
		ivec2 d = i == 0 ? ivec2(1, 0) : i == 1 ? ivec2(0, 1) : ivec2(1, 2 * i - 5);
		float a = at(p + d), b = at(p - d), w = i < 2 ? 2.0 : 1.0;
		if (!MISSING(a) && !MISSING(b) && abs(a + b - 2.0 * t) < bend) {
			sum += w * (a + b - 2.0 * t);
			weights += 2.0 * w;
		}
	}
	float z = (t + sum / weights - float(p.x) * code.x) / code.y;
	depth = MISSING(t) ? NONE : code.z + z * (code.w - code.z);
}`;

/* The mean of eight cross products of neighbours, counter-clockwise as displayed; one that is
   missing, or lies beyond a jump, drops its two. */
const NORMAL = HEAD + `
uniform sampler2D depth;
uniform ivec2 size;
uniform vec3 scale;
uniform float steepest;
out vec4 normal;
vec3 edge(ivec2 p, ivec2 d, float z) {
	ivec2 q = p + d;
	if (any(lessThan(q, ivec2(0))) || any(greaterThanEqual(q, size)))
		return vec3(0);
	float other = texelFetch(depth, q, 0).r;
	vec3 v = vec3(d, other - z) * scale;
	return MISSING(other) || abs(v.z) > steepest * length(v.xy) ? vec3(0) : v;
}
void main() {
	const ivec2 ring[9] = ivec2[9](ivec2(1, 0), ivec2(1, -1), ivec2(0, -1), ivec2(-1, -1), ivec2(-1, 0),
		ivec2(-1, 1), ivec2(0, 1), ivec2(1, 1), ivec2(1, 0));
	ivec2 p = ivec2(gl_FragCoord.xy);
	float z = texelFetch(depth, p, 0).r;
	vec3 sum = vec3(0), before = edge(p, ring[0], z);
	for (int i = 1; i < 9; i++) {
		vec3 v = edge(p, ring[i], z), n = cross(before, v);
		sum += dot(n, n) > 0.0 ? normalize(n) : vec3(0);
		before = v;
	}
	normal = vec4(dot(sum, sum) > 0.0 ? normalize(sum) : vec3(0, 0, 1), 0);
}`;

/* A vertex is a pixel. Of the four that begin a cell the first is the provoking vertex of both
   triangles: it tells the fragments which of the two crosses no jump. */
const MESH_VERTEX = HEAD + `
uniform sampler2D depth, normals, picture;
uniform ivec2 size, texture_place;	/* its first row; its channel, -1: colours, -2: none */
uniform int columns, stride;
uniform vec3 scale, centre, shift;
uniform mat3 turn;
uniform vec2 lens, range;
uniform float radius, steepest, dot_px, gain;
out vec3 position, normal, colour;
out float height;
out vec2 place;
flat out vec2 first;
flat out ivec2 joined;
float at(ivec2 p) {
	return any(greaterThanEqual(p, size)) ? NONE : texelFetch(depth, p, 0).r;
}
bool near(float a, float b, vec2 way) {
	return !MISSING(a) && !MISSING(b) &&
		abs((a - b) * scale.z) <= steepest * length(way * scale.xy) * float(stride);
}
void main() {
	ivec2 cell = ivec2(gl_VertexID % columns, gl_VertexID / columns), p = cell * stride;
	float a = at(p), b = at(p + ivec2(stride, 0)), c = at(p + ivec2(0, stride)), d = at(p + stride);
	bool diagonal = near(a, d, vec2(1, 1));
	joined = ivec2(diagonal && near(a, b, vec2(1, 0)) && near(b, d, vec2(0, 1)),
		diagonal && near(a, c, vec2(0, 1)) && near(c, d, vec2(1, 0)));
	place = first = vec2(cell);
	bool hole = MISSING(a);
	position = turn * ((vec3(p, hole ? centre.z : a) - centre) * scale) / radius + shift;
	normal = turn * texelFetch(normals, p, 0).xyz;
	height = (a - range.x) / (range.y - range.x);
	vec4 texel = texelFetch(picture, p + ivec2(0, texture_place.x), 0);
	colour = min((texture_place.y >= 0 ? vec3(texel[texture_place.y]) : texel.rgb) / gain, 1.0);
	gl_Position = vec4(position.xy * lens, -1.005 * position.z - 0.2, -position.z);
	gl_PointSize = dot_px / -position.z;
	if (dot_px > 0.0 && hole)
		gl_Position = vec4(2, 2, 2, 1);
}`;
const MESH_FRAGMENT = HEAD + `
uniform int mode;		/* 0 shaded, 1 texture, 2 depth colours */
uniform float dot_px;
uniform vec3 ramp[${RAMP.length}];
in vec3 position, normal, colour;
in float height;
in vec2 place;
flat in vec2 first;
flat in ivec2 joined;
out vec4 seen;
void main() {
	vec2 inside = place - first;
	if (dot_px == 0.0 && joined[inside.x >= inside.y ? 0 : 1] == 0)
		discard;
	vec3 n = normalize(normal), eye = normalize(-position), light = normalize(vec3(-0.35, 0.45, 1));
	bool behind = dot(n, eye) < 0.0;
	n = behind ? -n : n;
	float diffuse = max(dot(n, light), 0.0);
	float gloss = pow(max(dot(reflect(-light, n), eye), 0.0), 24.0);
	float h = clamp(height, 0.0, 1.0) * ${RAMP.length - 1}.0;
	int i = min(int(h), ${RAMP.length - 2});
	vec3 base = mode == 2 ? mix(ramp[i], ramp[i + 1], h - float(i)) : mode == 1 ? colour * colour : vec3(0.62, 0.59, 0.55);
	vec3 lit = mode == 1 ? base * (0.45 + 0.6 * diffuse) : base * (0.12 + 0.85 * diffuse) + (mode == 0 ? 0.14 : 0.05) * gloss;
	seen = vec4(sqrt(lit * (behind ? 0.4 : 1.0)), 1);
}`;

/* ---- WebGL ---- */

let gl, programs, textures, target, floats, sizes = {}, held = null;
const uniform_setters = {
	float: (at, v) => gl.uniform1f(at, v), bool: (at, v) => gl.uniform1i(at, v), int: (at, v) => gl.uniform1i(at, v),
	vec2: (at, v) => gl.uniform2fv(at, v), vec3: (at, v) => gl.uniform3fv(at, v), vec4: (at, v) => gl.uniform4fv(at, v),
	ivec2: (at, v) => gl.uniform2iv(at, v), ivec3: (at, v) => gl.uniform3iv(at, v),
	mat3: (at, v) => gl.uniformMatrix3fv(at, false, v)
};

function compile(vertex, fragment) {
	const program = gl.createProgram();
	for (const [type, text] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
		const shader = gl.createShader(type);
		gl.shaderSource(shader, text);
		gl.compileShader(shader);
		gl.attachShader(program, shader);
	}
	gl.linkProgram(program);
	if (!gl.getProgramParameter(program, gl.LINK_STATUS) && !gl.isContextLost())
		throw new Error("a shader failed: " + gl.getAttachedShaders(program).map(s => gl.getShaderInfoLog(s)).join(" "));
	const types = { [gl.FLOAT]: "float", [gl.BOOL]: "bool", [gl.INT]: "int", [gl.FLOAT_VEC2]: "vec2", [gl.FLOAT_VEC3]: "vec3",
		[gl.FLOAT_VEC4]: "vec4", [gl.INT_VEC2]: "ivec2", [gl.INT_VEC3]: "ivec3", [gl.FLOAT_MAT3]: "mat3",
		[gl.SAMPLER_2D]: "sampler" };
	const uniforms = {};
	for (let i = 0; i < gl.getProgramParameter(program, gl.ACTIVE_UNIFORMS); i++) {
		const info = gl.getActiveUniform(program, i), name = info.name.replace("[0]", "");
		uniforms[name] = { at: gl.getUniformLocation(program, name), type: types[info.type] };
	}
	return { program, uniforms };
}

/* Values of uniforms by their names; those of samplers are names of textures. */
function use(program, values) {
	let unit = 0;
	gl.useProgram(program.program);
	for (const [name, { at, type }] of Object.entries(program.uniforms))
		if (type === "sampler") {
			gl.activeTexture(gl.TEXTURE0 + unit);
			gl.bindTexture(gl.TEXTURE_2D, textures[values[name] || name]);
			gl.uniform1i(at, unit++);
		} else {
			uniform_setters[type](at, values[name]);
		}
}

function texture(format, w, h) {
	const made = gl.createTexture();
	gl.bindTexture(gl.TEXTURE_2D, made);
	gl.texStorage2D(gl.TEXTURE_2D, 1, format, w, h);
	gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.NEAREST);
	gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, gl.NEAREST);
	return made;
}

function draw_into(name) {
	gl.bindFramebuffer(gl.FRAMEBUFFER, target);
	gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, textures[name], 0);
}

function pass(program, to, values, rows = stream.h) {
	draw_into(to);
	gl.viewport(0, 0, stream.w, rows);
	use(programs[program], { size: [stream.w, stream.h], ...values });
	gl.drawArrays(gl.TRIANGLES, 0, 3);
}

/* Says in words what this browser lacks; null where nothing is missing. */
function start_gl() {
	gl = canvas.getContext("webgl2", { antialias: true, alpha: false, powerPreference: "high-performance" });
	if (!gl)
		return "This browser has no WebGL 2, or it is switched off: nothing can be shown here.";
	if (!gl.getExtension("EXT_color_buffer_float"))
		return "This graphics processor cannot compute with float pictures (EXT_color_buffer_float is missing): " +
			"depth cannot be decoded here.";
	programs = { read: compile(WHOLE, READ), unspike: compile(WHOLE, UNSPIKE), edge: compile(WHOLE, EDGE),
		smooth: compile(WHOLE, SMOOTH), planes: compile(WHOLE, PLANES), code: compile(WHOLE, CODE),
		normal: compile(WHOLE, NORMAL), mesh: compile(MESH_VERTEX, MESH_FRAGMENT) };
	textures = {};
	target = gl.createFramebuffer();
	gl.disable(gl.DITHER);
	gl.pixelStorei(gl.UNPACK_ALIGNMENT, 1);
	return null;
}

/* Textures and triangles for pictures of the stream's size. */
function make_room() {
	const { w, h, rows } = stream;
	for (const name in textures)
		gl.deleteTexture(textures[name]);
	textures = { picture: texture(gl.RGBA8, w, rows), normals: texture(gl.RGBA16F, w, h) };
	for (const name of ["turns", "turns2", "depth"])
		textures[name] = texture(gl.R32F, w, h);
	sizes = {};
	mesh.stride = Math.ceil(Math.sqrt(2 * w * h / TRIANGLES_PER_MESH));
	mesh.columns = Math.ceil(w / mesh.stride);
	mesh.rows = Math.ceil(h / mesh.stride);
	const index = new Uint32Array(6 * Math.max(mesh.columns - 1, 0) * Math.max(mesh.rows - 1, 0));
	let n = 0;
	for (let y = 0; y + 1 < mesh.rows; y++)
		for (let x = 0; x + 1 < mesh.columns; x++) {
			const a = y * mesh.columns + x, c = a + mesh.columns;	/* the last vertex provokes */
			index.set([a + 1, c + 1, a, c + 1, c, a], n);
			n += 6;
		}
	mesh.indices = n;
	gl.deleteBuffer(mesh.buffer);
	mesh.buffer = gl.createBuffer();
	gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, mesh.buffer);
	gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, index, gl.STATIC_DRAW);
	floats = null;
}

function even(n) {
	return n + n % 2;
}

/* Planes of a video: bytes, columns, rows, and bytes from row to row. A plane of another size gets another texture. */
function upload_planes({ planes, wide }, names) {
	planes.slice(0, names.length).forEach(({ bytes, stride, w, h }, i) => {
		const name = names[i], size = `${w} ${h} ${wide}`;
		if (sizes[name] !== size) {
			gl.deleteTexture(textures[name]);
			textures[name] = texture(wide ? gl.RG8 : gl.R8, w, h);
			sizes[name] = size;
		}
		gl.bindTexture(gl.TEXTURE_2D, textures[name]);
		gl.pixelStorei(gl.UNPACK_ROW_LENGTH, wide ? stride / 2 : stride);
		gl.texSubImage2D(gl.TEXTURE_2D, 0, 0, 0, w, h, wide ? gl.RG : gl.RED, gl.UNSIGNED_BYTE, bytes);
	});
	gl.pixelStorei(gl.UNPACK_ROW_LENGTH, 0);
}

const PLANE_NAMES = ["luma", "chroma_u", "chroma_v"], TEXTURE_NAMES = ["texture_y", "texture_u", "texture_v"];

/* How the shaders LEVELS read the planes of a picture. */
function levels_of({ wide, halved, bits }) {
	return { wide, halved, level_most: (1 << bits) - 1 };
}

/* picture: an ImageBitmap, bytes RGBA, or of a video { planes, wide, halved, bits }, and maybe mask and texture, which are
   the pictures of tracks of their own */
function decode(picture) {
	const s = stream, video = picture.planes;
	gl.activeTexture(gl.TEXTURE0);
	if (video) {
		upload_planes(picture, PLANE_NAMES);
		if (picture.mask)
			upload_planes(picture.mask, ["mask"]);
		if (picture.texture)
			upload_planes(picture.texture, TEXTURE_NAMES);
	} else {
		gl.bindTexture(gl.TEXTURE_2D, textures.picture);
		if (picture instanceof Uint8Array)
			gl.texSubImage2D(gl.TEXTURE_2D, 0, 0, 0, s.w, s.rows, gl.RGBA, gl.UNSIGNED_BYTE, picture);
		else
			gl.texSubImage2D(gl.TEXTURE_2D, 0, 0, 0, gl.RGBA, gl.UNSIGNED_BYTE, picture);
	}
	const { mask, texture: skin } = picture;
	held = { levels: video ? levels_of(picture) : null, masked: Boolean(mask), skin: skin ? levels_of(skin) : null };
	compute();
}

/* Depth and normals of the picture that was uploaded last. */
function compute() {
	const s = stream, { levels, masked, skin } = held;
	gl.disable(gl.DEPTH_TEST);
	gl.disable(gl.BLEND);
	if (levels)
		pass("planes", "picture", { ...levels, coloured: s.coloured }, s.rows);
	if (s.code)
		depth_of_code(levels, masked);
	else
		depth_of_fringes(s.encoding === "png");
	if (skin)
		pass("planes", "picture", { ...skin, coloured: s.texture_coloured ? 0 : 1e6, luma: TEXTURE_NAMES[0],
			chroma_u: TEXTURE_NAMES[1], chroma_v: TEXTURE_NAMES[2] });
	make_normals();
	floats = null;
}

/* A plane that is rounded to levels bends by two of them at most. */
function depth_of_code(levels, masked) {
	const { fine, guard, fringes, range } = stream.code;
	pass("code", "turns2", { ...levels, fine, guard, fringes, masked, mask: masked ? "mask" : "luma" });
	if (fine === 1 && look.smooth) {
		pass("unspike", "turns", { source: "turns2", along: [1, 0] });
		pass("unspike", "turns2", { source: "turns", along: [0, 1] });
	}
	pass("smooth", "depth", { source: "turns2", bend: !look.smooth ? 0 : fine ? 0.06 : 2.5,
		code: [0, fine ? fringes : levels.level_most - guard, ...range] });
}

function depth_of_fringes(exact) {
	const s = stream;
	pass("read", "turns", { channel: s.channel, stair: s.stair, order_most: s.order_most });
	if (look.smooth) {
		pass("unspike", "turns2", { source: "turns", along: [1, 0] });
		pass("unspike", "turns", { source: "turns2", along: [0, 1] });
	}
	pass("edge", "turns2", { source: "turns", reach: exact || !look.smooth ? 0 : 1,
		code: [s.per_column, s.per_depth, 0.25 / s.per_depth] });
	pass("smooth", "depth", { source: "turns2", bend: !look.smooth ? 0 : exact ? 0.0015 : 0.06,
		code: [s.per_column, s.per_depth, s.depth_zero, s.depth_one] });
}

function make_normals() {
	pass("normal", "normals", { scale: lengths(), steepest: STEEPEST });
}

/* The depth map as it was decoded, rows from the top; below -1e29 there is none. */
function read_depth() {
	if (!floats) {
		const all = new Float32Array(4 * stream.w * stream.h);
		draw_into("depth");
		gl.readPixels(0, 0, stream.w, stream.h, gl.RGBA, gl.FLOAT, all);
		floats = new Float32Array(stream.w * stream.h);
		for (let i = 0; i < floats.length; i++)
			floats[i] = all[4 * i];
	}
	return floats;
}

function read_texture() {
	const { w, h, texture_row, texture_channel: grey, gain } = stream, all = new Uint8Array(4 * w * h);
	draw_into("picture");
	gl.readPixels(0, texture_row, w, h, gl.RGBA, gl.UNSIGNED_BYTE, all);
	return i => [0, 1, 2].map(c => Math.min(255, Math.round(all[4 * i + (grey >= 0 ? grey : c)] / gain)));
}

/* ---- what is seen ---- */

const STEEPEST = 6;		/* a slope beyond that is a jump */
const mesh = { stride: 1, columns: 0, rows: 0, indices: 0, buffer: null };
const look = { yaw: 0, pitch: 0, distance: 0, x: 0, y: 0, mode: 0, points: false, height: 1, smooth: true,
	centre: [0, 0, 0], radius: 1, range: [0, 1], fitted: false };
let stream = null, shown = false, asked = false, paused = false;
const after_drawing = [];

/* Lengths of a column, a row and a unit of depth: x right, y up, z towards the viewer. */
function lengths() {
	return [stream.spacing[0], -stream.spacing[1], stream.towards * stream.exaggeration * look.height];
}

function home() {
	const flat = stream && stream.flat;
	Object.assign(look, { yaw: flat ? 0 : -0.35, pitch: flat ? 0 : 0.22, distance: 4, x: 0, y: 0 });
}

/* The middle and the radius of what there is, without single stray pixels. */
function fit() {
	const z = read_depth(), { w } = stream, [sx, sy, sz] = lengths(), step = Math.max(1, Math.floor(z.length / 40000));
	const columns = [], rows = [], depths = [], ends = v => {
		v.sort((a, b) => a - b);
		return [v[Math.floor(0.004 * v.length)], v[Math.ceil(0.996 * v.length) - 1]];
	};
	for (let i = 0; i < z.length; i += step)
		if (z[i] > -1e29) {
			columns.push(i % w);
			rows.push(Math.floor(i / w));
			depths.push(z[i]);
		}
	if (!depths.length)
		return;
	const box = [ends(columns), ends(rows), ends(depths)], scale = [sx, sy, sz];
	look.centre = box.map(e => (e[0] + e[1]) / 2);
	look.radius = Math.hypot(...box.map((e, i) => (e[1] - e[0]) / 2 * scale[i])) || Math.abs(sx);
	look.range = stream.towards > 0 ? box[2] : [box[2][1], box[2][0]];
	if (look.range[0] === look.range[1])
		look.range[1] += stream.towards * 1e-6 * (stream.depth_one - stream.depth_zero);
	look.fitted = true;
	show_legend();
}

function show_legend() {
	const [low, high] = look.range, digits = Math.max(0, Math.min(6, 2 - Math.floor(Math.log10(Math.abs(high - low) || 1))));
	$("high").textContent = high.toFixed(digits) + " " + stream.unit;
	$("low").textContent = low.toFixed(digits) + " " + stream.unit;
	$("legend").hidden = look.mode !== 2;
}

function turn_matrix() {
	const [cy, sy, cp, sp] = [Math.cos(look.yaw), Math.sin(look.yaw), Math.cos(look.pitch), Math.sin(look.pitch)];
	return [cy, sp * sy, -cp * sy, 0, cp, sp, sy, -sp * cy, cp * cy];	/* by columns */
}

/* Into the part of the window that the bar leaves free. */
function draw() {
	const ratio = Math.min(window.devicePixelRatio || 1, 2);
	const w = Math.max(1, Math.round(canvas.clientWidth * ratio)), h = Math.max(1, Math.round(canvas.clientHeight * ratio));
	if (canvas.width !== w || canvas.height !== h)
		Object.assign(canvas, { width: w, height: h });
	if (shown && !look.fitted)
		fit();
	gl.bindFramebuffer(gl.FRAMEBUFFER, null);
	gl.viewport(0, 0, w, h);
	gl.clearColor(0x14 / 255, 0x17 / 255, 0x1b / 255, 1);
	gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
	if (!shown)
		return;
	const bar = Math.round($("bar").offsetHeight * ratio), free = Math.max(h - bar, h / 3), s = stream;
	const focal = 4, side = Math.min(w, free), lens = [focal * side / w, focal * side / free];
	const pixel = focal * side / 2 * Math.abs(s.spacing[0]) * mesh.stride / look.radius;
	gl.viewport(0, h - free, w, free);
	gl.enable(gl.DEPTH_TEST);
	use(programs.mesh, { size: [s.w, s.h], texture_place: [s.texture_row, s.texture_channel], columns: mesh.columns,
		stride: mesh.stride, scale: lengths(), centre: look.centre, shift: [look.x, look.y, -look.distance],
		turn: turn_matrix(), lens, range: look.range, radius: look.radius, steepest: STEEPEST,
		dot_px: look.points ? Math.max(pixel, look.distance * 1.01) : 0, mode: look.mode, gain: s.gain,
		ramp: RAMP.flat().map(v => (v / 255) ** 2) });
	gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, mesh.buffer);
	if (look.points)
		gl.drawArrays(gl.POINTS, 0, mesh.columns * mesh.rows);
	else
		gl.drawElements(gl.TRIANGLES, mesh.indices, gl.UNSIGNED_INT, 0);
}

function redraw() {
	if (asked || !gl || gl.isContextLost())
		return;
	asked = true;
	requestAnimationFrame(() => {
		asked = false;
		draw();
		for (const done of after_drawing.splice(0))
			done();
	});
}

/* ---- mouse, touch, keys ---- */

const fingers = new Map();

function turn_by(x, y) {
	look.yaw += 0.008 * x;
	look.pitch = Math.max(-1.57, Math.min(1.57, look.pitch + 0.008 * y));
}

function shift_by(x, y) {
	const per_px = look.distance / 4 * 2 / Math.min(canvas.clientWidth, canvas.clientHeight);
	look.x += x * per_px;
	look.y -= y * per_px;
}

function zoom_by(factor) {
	look.distance = Math.max(0.3, Math.min(30, look.distance / factor));
}

canvas.addEventListener("pointerdown", e => {
	canvas.setPointerCapture(e.pointerId);
	fingers.set(e.pointerId, [e.clientX, e.clientY]);
});
canvas.addEventListener("pointermove", e => {
	const last = fingers.get(e.pointerId), now = [e.clientX, e.clientY];
	if (!last)
		return;
	const [x, y] = [now[0] - last[0], now[1] - last[1]];
	if (fingers.size === 2) {
		const other = [...fingers.entries()].find(([id]) => id !== e.pointerId)[1];
		const apart = p => Math.max(10, Math.hypot(p[0] - other[0], p[1] - other[1]));
		zoom_by(apart(now) / apart(last));
		shift_by(x / 2, y / 2);
	} else if (e.buttons & 6 || e.shiftKey) {
		shift_by(x, y);
	} else {
		turn_by(x, y);
	}
	fingers.set(e.pointerId, now);
	redraw();
});
for (const name of ["pointerup", "pointercancel", "lostpointercapture"])
	canvas.addEventListener(name, e => fingers.delete(e.pointerId));
canvas.addEventListener("contextmenu", e => e.preventDefault());
canvas.addEventListener("wheel", e => {
	e.preventDefault();
	zoom_by(Math.exp(-e.deltaY * (e.deltaMode === 1 ? 0.04 : 0.0015)));
	redraw();
}, { passive: false });
canvas.addEventListener("dblclick", () => actions.reset());

function set_mode(mode) {
	if (mode === 1 && !(stream && stream.textured))
		return;
	look.mode = mode;
	show_buttons();
}

function show_buttons() {
	const textured = Boolean(stream && stream.textured);
	$("texture").disabled = !textured;
	["shaded", "texture", "colours"].forEach((id, i) => $(id).setAttribute("aria-pressed", String(look.mode === i)));
	$("points").setAttribute("aria-pressed", String(look.points));
	$("smooth").setAttribute("aria-pressed", String(look.smooth));
	$("png").disabled = $("ply").disabled = !shown;
	$("legend").hidden = look.mode !== 2 || !shown;
	redraw();
}

function set_smooth(smooth) {
	look.smooth = smooth;
	if (shown)
		compute();
	show_buttons();
}

function set_height(factor) {
	if (!shown)
		return;
	look.height = Math.max(0.05, Math.min(50, look.height * factor));
	make_normals();
	fit();
	show_size();
}

const actions = {
	shaded: () => set_mode(0), texture: () => set_mode(1), colours: () => set_mode(2),
	points: () => { look.points = !look.points; show_buttons(); },
	smooth: () => set_smooth(!look.smooth),
	pause: () => { paused = !paused; show_buttons(); pause_changed(); },
	reset: () => { home(); look.fitted = false; redraw(); },
	png: save_png, ply: save_ply,
	question: () => { $("help").hidden = !$("help").hidden; }
};
const KEYS = { 1: "shaded", 2: "texture", 3: "colours", 4: "points", 5: "smooth", " ": "pause", 0: "reset", s: "png", p: "ply",
	h: "question", "?": "question" };
const MOVES = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

for (const [id, act] of Object.entries(actions))
	$(id).addEventListener("click", act);
document.addEventListener("keydown", e => {
	if (MOVES[e.key] && e.target instanceof HTMLInputElement)	/* arrows move a slider */
		return;
	if (e.ctrlKey || e.altKey || e.metaKey || (e.key === " " && e.target instanceof HTMLButtonElement))
		return;
	if (MOVES[e.key])
		(e.shiftKey ? shift_by : turn_by)(...MOVES[e.key].map(v => 15 * v));
	else if (e.key === "+" || e.key === "=" || e.key === "-")
		zoom_by(e.key === "-" ? 1 / 1.15 : 1.15);
	else if (e.key === "[" || e.key === "]")
		set_height(e.key === "[" ? 1 / 1.25 : 1.25);
	else if (e.key === "Escape")
		$("help").hidden = true;
	else if (KEYS[e.key])
		actions[KEYS[e.key]]();
	else
		return;
	e.preventDefault();
	redraw();
});
new ResizeObserver(redraw).observe(canvas);

/* ---- saving ---- */

function save(blob, suffix) {
	const link = document.createElement("a");
	link.href = URL.createObjectURL(blob);
	link.download = "fringepipe-" + new Date().toISOString().slice(0, 19).replace(/[-:]/g, "") + "." + suffix;
	link.click();
	setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

function save_png() {
	if (!shown)
		return;
	draw();
	canvas.toBlob(blob => save(blob, "png"), "image/png");
}

function save_ply() {
	if (shown)
		save(new Blob(ply_of_surface()), "ply");
}

/* The surface in the stream's own lengths: x right, y up, z towards the viewer; as displayed, points
   alone or triangles without jumps, with the texture where that is shown. */
function ply_of_surface() {
	const z = read_depth(), { w, h, spacing, corner, towards } = stream, [sx, sy, sz] = lengths();
	const colour = look.mode === 1 ? read_texture() : null, size = colour ? 15 : 12;
	const number = new Int32Array(w * h).fill(-1), faces = [];
	let n = 0;
	for (let i = 0; i < z.length; i++)
		if (z[i] > -1e29)
			number[i] = n++;
	const points = new DataView(new ArrayBuffer(n * size));
	for (let i = 0; i < z.length; i++) {
		if (number[i] < 0)
			continue;
		const at = number[i] * size;
		points.setFloat32(at, corner[0] + (i % w) * spacing[0], true);
		points.setFloat32(at + 4, -(corner[1] + Math.floor(i / w) * spacing[1]), true);
		points.setFloat32(at + 8, towards * z[i], true);
		if (colour)
			colour(i).forEach((v, k) => points.setUint8(at + 12 + k, v));
	}
	const near = (i, k, x, y) => number[i] >= 0 && number[k] >= 0 &&
		Math.abs((z[i] - z[k]) * sz) <= STEEPEST * Math.hypot(x * sx, y * sy);
	for (let y = 0; y + 1 < h && !look.points; y++)
		for (let x = 0; x + 1 < w; x++) {
			const a = y * w + x, b = a + 1, c = a + w, d = c + 1;
			if (!near(a, d, 1, 1))
				continue;
			if (near(a, b, 1, 0) && near(b, d, 0, 1))
				faces.push(a, d, b);
			if (near(a, c, 0, 1) && near(c, d, 1, 0))
				faces.push(a, c, d);
		}
	const triangles = new DataView(new ArrayBuffer(faces.length / 3 * 13));
	faces.forEach((v, i) => {
		const at = Math.floor(i / 3) * 13;
		triangles.setUint8(at, 3);
		triangles.setInt32(at + 1 + 4 * (i % 3), number[v], true);
	});
	const axes = ["x", "y", "z"].map(v => `property float ${v}\n`).join("");
	const colours = colour ? ["red", "green", "blue"].map(v => `property uchar ${v}\n`).join("") : "";
	return [`ply\nformat binary_little_endian 1.0\ncomment x right, y up, z towards the viewer\n` +
		`element vertex ${n}\n${axes}${colours}element face ${faces.length / 3}\n` +
		`property list uchar int vertex_indices\nend_header\n`, points, triangles];
}

/* ---- video, by WebCodecs ---- */

/* By the processor: its pictures can be read, and in 10 bits. */
function decoder_settings(codec) {
	return { codec, hardwareAcceleration: "prefer-software" };
}

/* What decode() takes of a frame of w x h pixels. */
async function planes_of(frame, w, h) {
	const { width, height } = frame.visibleRect;
	if (width !== w || height !== h)
		throw new Error(`it has ${width} x ${height} pixels, not ${w} x ${h}`);
	const form = /^(?:I(420|422|444)(?:P(10|12))?|NV12)$/.exec(frame.format);
	if (!form)
		throw new Error(`this browser decodes it to ${frame.format || "pixels that cannot be read"}`);
	const bits = Number(form[2] || 8), wide = bits > 8, halved = [Number(form[1] !== "444"), Number(form[1] !== "444" && form[1] !== "422")];
	const bytes = new Uint8Array(frame.allocationSize()), layout = await frame.copyTo(bytes);
	const planes = layout.map(({ offset, stride }, i) => ({ bytes: bytes.subarray(offset), stride,
		w: i ? w + halved[0] >> halved[0] : w, h: i ? h + halved[1] >> halved[1] : h }));
	if (!form[1]) {
		const pairs = planes.pop();
		for (const at of [0, 1])
			planes.push({ ...pairs, bytes: pairs.bytes.filter((_, i) => i % 2 === at), stride: pairs.stride / 2 });
	}
	return { planes, wide, halved, bits };
}

/* ---- keys: holoimage(5), depthcode(5) ---- */

/* holoimage(5), Metadata. Throws an Error in words where a key is missing or makes no sense. */
function read_keys(keys) {
	const numbers = (name, n, otherwise) => {
		if (!(name in keys) && otherwise)
			return otherwise;
		const list = (keys[name] || "").split(/\s+/).map(Number);
		if (!keys[name] || list.length !== n || !list.every(Number.isFinite))
			throw new Error(`${name} must be ${n === 1 ? "a number" : n + " numbers"}, not '${keys[name] || ""}'`);
		return list;
	};
	const within = (name, low, high) => {
		const v = numbers(name, 1)[0];
		if (!(v >= low && v <= high))
			throw new Error(`${name} must lie in ${low} to ${high}, not ${v}`);
		return v;
	};
	const whole = (name, low, high) => {
		const v = within(name, low, high);
		if (!Number.isInteger(v))
			throw new Error(`${name} must be a whole number, not ${v}`);
		return v;
	};
	const word = (name, words, otherwise) => {
		const v = keys[name] || otherwise;
		if (!words.includes(v))
			throw new Error(`${name} must be ${words.join(" or ")}, not '${v || ""}'`);
		return v;
	};
	const encoding = word("encoding", ["jpeg", "png", "h264", "luma", "file"]), file = encoding === "file";
	const video = file || encoding === "h264" || encoding === "luma", coded = encoding === "luma" || file && "depthcode_layout" in keys;
	const texture = word("texture", ["none", "alpha", "below", "track"], "none");
	const bt709 = word("texture_matrix", ["rgb", "bt709"], "rgb") === "bt709";
	const w = whole("width", 1, 16384), h = whole("height", 1, 16384);
	const texture_row = texture !== "below" ? 0 : keys.texture_row ? whole("texture_row", h, h + 64) : h;
	const rows = texture_row + h;
	const most = gl.getParameter(gl.MAX_TEXTURE_SIZE), [hw, hh] = numbers("holo_size", 2, [w, h]);
	const layout = coded ? word("depthcode_layout", file ? ["luma", "mwd", "fold"] : ["luma"]) : word("holo_layout", ["rgb", "yuv"], "rgb");
	if (hw !== w || hh !== h)
		throw new Error(`holo_size is ${hw} x ${hh}, but the pictures have ${w} x ${h} pixels`);
	if (w > most || rows > most)
		throw new Error(`pictures of ${w} x ${rows} pixels are too large for this graphics processor, which holds ${most} x ${most}`);
	if (w * h > PIXELS_MOST)
		throw new Error(`pictures of ${w} x ${h} pixels are too large for this page`);
	if (keys.holo_pack)
		throw new Error("pictures of three bits a pixel cannot be shown here");
	const towards = word("z_axis", ["towards", "away"], "away") === "towards", spacing = numbers("holo_spacing", 2, [1, 1]);
	const range = coded ? "depthcode_range" : "holo_depth_range", [low, high] = numbers(range, 2);
	if (!(low < high))
		throw new Error(`${range} must rise, not ${low} ${high}`);
	const unit = keys.length_unit || (keys.depth_range_mm ? "mm" : "");
	/* Where depths and columns have no common unit a surface may be flat as paper, or a needle. */
	const side = Math.max(w, h), span = (high - low) / (side * Math.abs(spacing[0]) || 1), odd = span < 0.02 || span > 5;
	const all = { encoding, video, codec: keys.codec, w, h, rows, spacing, unit, towards: towards ? 1 : -1,
		corner: numbers("holo_corner", 2, [0, 0]), depth_zero: towards ? low : high, depth_one: towards ? high : low,
		textured: texture !== "none", texture_row,
		texture_channel: texture === "alpha" ? 3 : texture === "below" ? (video && !bt709 && layout !== "rgb" ? 0 : -1) :
			texture === "track" ? (bt709 ? -1 : 0) : -2, gain: "texture_gain" in keys ? within("texture_gain", 0.001, 1) : 1,
		texture_coloured: bt709, coloured: bt709 && texture === "below" ? texture_row : 1e6,
		flat: keys.plane === "yes", exaggeration: keys.plane === "yes" ? 0 : odd ? 0.5 / span : 1 };
	if (video && !file && !/^avc1\.[0-9A-F]{6}$/.test(keys.codec))
		throw new Error(`codec must be as avc1.6E0020, not '${keys.codec || ""}'`);
	if (coded) {
		const bits = within("depthcode_bits", file ? 8 : 10, file ? 12 : 10), fine = ["luma", "mwd", "fold"].indexOf(layout);
		const gap = word("depthcode_mask", file ? ["gap", "track"] : ["gap"]) === "gap";
		return { ...all, bits, code: { fine, range: [low, high], guard: gap ? within("depthcode_guard", 1, (1 << bits - 1) - 1) : 0,
			fringes: fine ? within("depthcode_fringes", 1, 64) : 1 } };
	}
	const theta = within("holo_theta_deg", 1, 89) * Math.PI / 180, pitch = within("holo_pitch_px", 1e-3, 1e6);
	const height = within("holo_stair_height", 1, 255), cosine = word("holo_stair", ["cosine", "composite"]) === "cosine";
	const turns = cosine ? within("holo_stair_turns", 0, 64) + 0.5 : 0;
	return { ...all, bits: 8, channel: word("holo_layout", ["rgb", "yuv"]) === "rgb" ? [0, 1, 2] : [1, 2, 0],
		stair: cosine ? [height, height / 2, height / 2 - 1, turns] : [height, 0, 0, 0],
		order_most: Math.floor(((w - 1) * Math.cos(theta) + side * Math.sin(theta)) / pitch),
		per_column: Math.cos(theta) / pitch, per_depth: side * Math.sin(theta) / pitch };
}

