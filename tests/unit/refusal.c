// SPDX-License-Identifier: GPL-2.0-only
/* Every refusal has a reason and a way out, for known and unknown errnos. */
#include "lib/zc_kernel.h"
#include "tests/unit/unit.h"

enum { LAST_ERRNO = 133, MOST = 12 };

/* The errnos that the kernel returns; 0 ends a row. */
static const struct {
	enum zc_request request;
	int codes[MOST];
} kernels[] = {
	{ZC_ZCRX, {EPERM, EINVAL, ENODEV, EOPNOTSUPP, ERANGE, EEXIST, EBUSY, EFAULT, ENOMEM}},
	{ZC_BIND_RX, {EPERM, EINVAL, ENODEV, EOPNOTSUPP, ERANGE, EEXIST, EBUSY, EBADF}},
	{ZC_BIND_TX, {EPERM, EINVAL, ENODEV, EOPNOTSUPP, EBADF}},
	{ZC_UDMABUF, {ENOENT, EACCES, EINVAL, ENOMEM}},
};

enum { KINDS = sizeof(kernels) / sizeof(kernels[0]) };

TEST(every_listed_errno_has_a_refusal)
{
	for (size_t i = 0; i < KINDS; i++)
		for (size_t k = 0; kernels[i].codes[k]; k++)
			assert_int_equal(
				refusal_find(kernels[i].request, kernels[i].codes[k])->code,
				kernels[i].codes[k]);
}

TEST(every_errno_has_a_reason_and_a_way_out)
{
	for (size_t i = 0; i < KINDS; i++) {
		for (int code = 1; code <= LAST_ERRNO; code++) {
			const struct refusal *r = refusal_find(kernels[i].request, code);

			assert_true(r->code == code || !r->code);
			assert_true(r->why && strlen(r->why) > 10);
			if (!r->todo)
				print_error("no way out for %s\n", strerror(code));
			assert_true(r->todo && *r->todo);
		}
	}
	assert_int_equal(refusal_find(ZC_ZCRX, EILSEQ)->code, 0);
}
