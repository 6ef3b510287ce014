// SPDX-License-Identifier: GPL-2.0-only
#include "plot/palette.h"

#include "lib/alloc.h"
#include "lib/hash.h"

static const uint32_t variants[] = {
	0x767676, 0x0072b2, 0xe69f00, 0x009e73, 0xe09cc4, 0x56b4e9, 0xd55e00, 0x3d3d3d,
};

struct part {
	const char *name;
	uint32_t rgb;
};

static const struct part parts[] = {
	/* CPU time */
	{"user time", 0x88ccee},
	{"system", 0x332288},
	{"softirq", 0x44aa99},
	{"softirq in syscall", 0x227766},
	{"hardirq", 0xddcc77},
	{"stolen", 0xbbbbbb},
	/* components; those that zero copy changes stand at the axis, where they compare best */
	{"data copy", 0xcc6677},
	{"page mapping", 0x882255},
	{"page pinning", 0x501018},
	{"splice", 0xa83818},
	{"zero copy", 0xaa3377},
	{"TCP/IP", 0x332288},
	{"GRO", 0x3232cc},
	{"netdevice", 0x88ccee},
	{"driver", 0x661100},
	{"filter", 0x4477aa},
	{"skb", 0x44aa99},
	{"page_pool", 0xb050f0},
	{"memory", 0xddcc77},
	{"lock", 0x117733},
	{"scheduling", 0xaa4499},
	{"entry", 0x7446b8},
	{"syscall", 0x999933},
	{"io_uring", 0xee8866},
	{"interrupt", 0x9684e0},
	{"timer", 0xffaabb},
	{"tracing", 0x994455},
	{"user", 0xbbcc33},
	{"libraries", 0xb6e3a0},
	{"other", 0xbbbbbb},
	{"unclassified", 0x999999},
	{"idle", 0xeeeeee},
	/* waits of threads */
	{"on the way to a wait", 0xd4e4f1},
	{"blocked", 0x5b8db8},
	{"run queue", 0xf0a860},
	{"the rest", 0xdddddd}, /* the parts that a stack has no colours for */
};

static const uint32_t spare[] = {0x99ddff, 0xeecc66, 0x228833, 0x66ccee, 0xccbb44};

/* Mixes the colours; `share`, 0 to 256, is that of `to`. */
static uint32_t rgb_mix(uint32_t rgb, uint32_t to, unsigned int share)
{
	uint32_t out = 0;

	for (int shift = 0; shift < 24; shift += 8)
		out |= (((rgb >> shift & 255) * (256 - share) + (to >> shift & 255) * share) >> 8)
		       << shift;
	return out;
}

/* After the last colour come lighter colours, then darker ones. */
uint32_t palette_variant(int place)
{
	uint32_t rgb = variants[(size_t)place % array_size(variants)];

	switch ((size_t)place / array_size(variants)) {
	case 0:
		return rgb;
	case 1:
		return rgb_mix(rgb, 0xffffff, 130);
	default:
		return rgb_mix(rgb, 0x000000, 100);
	}
}

uint32_t palette_pale(uint32_t rgb)
{
	return rgb_mix(rgb, 0xffffff, 155);
}

uint32_t palette_change(double share)
{
	enum { CHEAPER = 0x0072b2, COSTLIER = 0xd55e00, PALEST = 190 };
	double size = share < 0 ? -share : share;

	return rgb_mix(share < 0 ? CHEAPER : COSTLIER, 0xffffff,
		       (unsigned int)(PALEST * (1 - (size > 1 ? 1 : size))));
}

static const struct part *part_find(const char *name)
{
	return array_find(p, parts, array_size(parts), !strcasecmp(p->name, name));
}

uint32_t palette_part(const char *name)
{
	const struct part *p = part_find(name);

	return p ? p->rgb : spare[hash_bytes(name, strlen(name), 0) % array_size(spare)];
}

/* Unknown names stand between the known names and "other". */
int palette_order(const char *name)
{
	const struct part *p = part_find(name), *other = part_find("other");

	if (!p)
		return (int)(other - parts) * 2 - 1;
	return (int)(p - parts) * 2;
}

bool palette_dark(uint32_t rgb)
{
	return 0.299 * (rgb >> 16) + 0.587 * (rgb >> 8 & 255) + 0.114 * (rgb & 255) < 140;
}
