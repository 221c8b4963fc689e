/* Durations, dates and names. */
#include "report/units.h"

#include <math.h>

#include "report/demangle.h"
#include "test_files.h"

static void expect_duration(double seconds, const char *expected)
{
	char buffer[UNITS_SIZE];

	EXPECT_STR(units_duration(seconds, buffer), expected);
}

static void durations_are_short(void)
{
	expect_duration(0, "0.0 s");
	expect_duration(-3, "0.0 s");
	expect_duration(NAN, "0.0 s");
	expect_duration(0.44, "0.4 s");
	expect_duration(12.2, "12 s");
	expect_duration(59.6, "1 min");
	expect_duration(192.4, "3 min 12 s");
	expect_duration(688, "11 min 28 s");
	expect_duration(3600 * 2 + 300, "2 h 5 min");
	expect_duration(86400 * 4 + 3600 * 3, "4 d 3 h");
	expect_duration(86400 * 40, "40 d");
	expect_duration(86400 * 365.25 * 2.5, "2.5 years");
	expect_duration(1e300, "many years");
	expect_duration(INFINITY, "many years");
}

static void dates_are_utc(void)
{
	char buffer[UNITS_SIZE];

	EXPECT_STR(units_date(1795984200ull * 1000000000, buffer), "2026-11-29T20:30:00Z");
	EXPECT_STR(units_date(0, buffer), "1970-01-01T00:00:00Z");
	EXPECT_STR(units_date(UINT64_MAX, buffer), "2554-07-21T23:34:33Z");
}

static void expect_name(const char *symbol, const char *expected)
{
	struct text text = {at_edge(symbol, strlen(symbol)), strlen(symbol)};
	char name[64];

	EXPECT(demangle(text, name, sizeof(name)) == (expected != NULL));
	if (expected)
		EXPECT_STR(name, expected);
}

static void names_are_demangled(void)
{
	expect_name("_ZN2at6native10empty_cudaEv", "at::native::empty_cuda");
	expect_name("_ZNK2at6Tensor4sizeEl", "at::Tensor::size");
	expect_name("_Z5helloi", "hello");
	expect_name("_ZN12_GLOBAL__N_14workEv", "(anonymous)::work");
	expect_name("_Z1fIiEvT_", NULL);
	expect_name("_ZN2at6vectorIiE4pushEv", NULL);
	expect_name("main", NULL);
	expect_name("", NULL);
	expect_name("_Z", NULL);
	expect_name("_ZN", NULL);
	expect_name("_ZN2a", NULL);
	expect_name("_ZN9999999999999999999a", NULL);
	expect_name("_ZN40aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa40"
		    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaEv",
		    NULL);
}

int main(void)
{
	durations_are_short();
	dates_are_utc();
	names_are_demangled();
	return test_result();
}
