// Sizes and offsets of the structures as the compiler sees them, for a test that compares them with the binding's.

#include "double.h"
#include "structures.h"
#include <stddef.h>
#include <stdio.h>

// `here` is the structure whose fields are printed.
#define STRUCT_ROWS(name, fields) ROWS(struct, name, fields)
#define UNION_ROWS(name, fields) ROWS(union, name, fields)
#define ROWS(kind, name, fields) \
	{ \
		typedef kind doca_telemetry_##name here; \
		text = begin(text, end, "doca_telemetry_" #name, sizeof(here)); \
		fields \
		text = append(text - 1, end, "}},"); \
	}
#define FIELD_ROW(type, name, elements) text = add(text, end, #name, offsetof(here, name), sizeof(((here *)0)->name));

static char *append(char *text, const char *end, const char *more)
{
	return text + snprintf(text, (size_t)(end - text), "%s", more);
}

static char *begin(char *text, const char *end, const char *name, size_t bytes)
{
	return text + snprintf(text, (size_t)(end - text), "\"%s\":{\"size\":%zu,\"fields\":{", name, bytes);
}

static char *add(char *text, const char *end, const char *name, size_t at, size_t bytes)
{
	return text + snprintf(text, (size_t)(end - text), "\"%s\":[%zu,%zu],", name, at, bytes);
}

// JSON: `{"doca_telemetry_pci_dpn":{"size":3,"fields":{"depth":[0,1],…}},…}`.
API const char *sonde_doca_layout(void)
{
	static char json[32768];
	char *end = json + sizeof json, *text = append(json, end, "{");
	STRUCTURES(STRUCT_ROWS, UNION_ROWS, FIELD_ROW)
	append(text - 1, end, "}");
	return json;
}
