"""Two cameras behind one projector, 30 degrees apart: the rig of Portal-s, for the splat's tests."""
import json
import numpy as np

DISTANCE = 600		# mm, of the scene from the left camera, and of both cameras from where they look


def turn_y(degrees):
	c, s = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
	return np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]])


def intrinsics(focal, w, h):
	return [[focal, 0, (w - 1) / 2], [0, focal, (h - 1) / 2], [0, 0, 1]]


class Rig:
	"""World: the left camera. x_device = R x_world + T. The projector stands midway, as far away."""

	def __init__(self, w, h, beams=(800, 600), apart=30, shift=(0, 0, 0), lens=(0, 0, 0, 0, 0)):
		self.w, self.h, self.beams, self.lens = w, h, beams, lens
		look = np.array([0, 0, DISTANCE])
		self.R, self.T = {}, {}
		for name, angle in ("left", 0), ("beamer", apart / 2), ("right", apart):
			self.R[name] = turn_y(angle)
			self.T[name] = np.array([0, 0, DISTANCE]) - self.R[name] @ look
		self.T["right"] = self.T["right"] + np.array(shift)
		self.K = {name: intrinsics(1.9 * w, w, h) for name in ("left", "right")}
		self.K["beamer"] = intrinsics(1.6 * beams[0], *beams)

	def write(self, path):
		def device(name, kind, size):
			return dict(kind=kind, size=list(size), K=self.K[name], dist=list(self.lens) if kind == "projector" else [0] * 5,
				R=self.R[name].T.tolist(), T_mm=(-self.R[name].T @ self.T[name]).tolist())		# from the device to the world
		rig = dict(K1=self.K["left"], d1=[0] * 5, K2=self.K["right"], d2=[0] * 5, R=self.R["right"].tolist(),
			T_mm=self.T["right"].tolist(), image_size=[self.w, self.h], projector_K=self.K["beamer"],
			projector_dist=list(self.lens), R_cam_to_proj=self.R["beamer"].tolist(),
			T_cam_to_proj_mm=self.T["beamer"].tolist(), projector_size=list(self.beams), camera_K=self.K["left"],
			camera_dist=[0] * 5, camera_size=[self.w, self.h],
			devices=dict(left=device("left", "camera", (self.w, self.h)), right=device("right", "camera", (self.w, self.h)),
				beamer=device("beamer", "projector", self.beams)))
		json.dump(rig, open(path, "w"))
		return self
