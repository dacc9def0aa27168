/* Which channels of two frames are matched, and in which unit. */
#ifndef MATCHING_PLAN_H
#define MATCHING_PLAN_H

#include "phasematch.h"

/*
 * The input's absphase, or its absphase1, absphase2, ..., and those of --right (path, for
 * messages): sets the maps of matching, and radian. residual_most: projector px that phases of
 * one map may be off their mean; votes: each phase is a map of its own. -1 after fail().
 */
int matching_plan(const struct run *, const char *path, const struct frame_head *in,
    double residual_most, bool votes, struct phasematch *);

#endif
