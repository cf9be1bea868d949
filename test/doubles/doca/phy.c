// doca_telemetry_phy of the double: three structures, which the scenario gives byte by byte.

#define _GNU_SOURCE
#include "double.h"
#include <stdlib.h>

#define PHY_MAGIC 0xdeca0004u

struct doca_telemetry_phy {
	struct context context;
	int started;
};

typedef struct doca_telemetry_phy phy_context;
#define SHORT(name) doca_telemetry_phy_##name

#define CAPABILITY(name, fact) \
	API doca_error_t SHORT(name)(const struct doca_devinfo *devinfo) \
	{ \
		CALL_INFO(devinfo, DOCA_ERROR_OPERATING_SYSTEM); \
		NEEDS(call.facts->phy && call.facts->fact, DOCA_ERROR_NOT_SUPPORTED); \
		return DOCA_SUCCESS; \
	}

CAPABILITY(cap_is_supported, phy)
CAPABILITY(cap_operation_info_is_supported, phy_operation)
CAPABILITY(cap_module_info_is_supported, phy_module)
CAPABILITY(cap_counter_and_ber_info_is_supported, phy_counters)

API doca_error_t SHORT(create)(struct doca_dev *dev, phy_context **phy)
{
	NEEDS(dev && phy, DOCA_ERROR_INVALID_VALUE);
	CALL_INFO(&dev->info, DOCA_ERROR_DRIVER);
	NEEDS(call.facts->phy, DOCA_ERROR_NOT_SUPPORTED);
	*phy = calloc(1, sizeof **phy);
	return context_open(dev, &(*phy)->context, PHY_MAGIC);
}

API doca_error_t SHORT(destroy)(phy_context *phy)
{
	CALL(phy, PHY_MAGIC, DOCA_SUCCESS);
	NEEDS(!phy->started, DOCA_ERROR_BAD_STATE);
	context_close(&phy->context);
	return DOCA_SUCCESS;
}

API doca_error_t SHORT(start)(phy_context *phy)
{
	CALL(phy, PHY_MAGIC, DOCA_ERROR_DRIVER);
	NEEDS(!phy->started, DOCA_ERROR_BAD_STATE);
	phy->started = 1;
	return DOCA_SUCCESS;
}

API doca_error_t SHORT(stop)(phy_context *phy)
{
	CALL(phy, PHY_MAGIC, DOCA_SUCCESS);
	NEEDS(phy->started, DOCA_ERROR_BAD_STATE);
	phy->started = 0;
	return call.removed ? DOCA_ERROR_DRIVER : DOCA_SUCCESS;
}

#define READER(name, fact, image, when_unplugged) \
	API doca_error_t SHORT(name)(phy_context *phy, void *out) \
	{ \
		NEEDS(out, DOCA_ERROR_INVALID_VALUE); \
		CALL(phy, PHY_MAGIC, DOCA_ERROR_DRIVER); \
		NEEDS(phy->started, DOCA_ERROR_BAD_STATE); \
		NEEDS(call.facts->fact, DOCA_ERROR_NOT_SUPPORTED); \
		if (!call.facts->cable && when_unplugged) return when_unplugged; \
		call_write(&call, image, out); \
		return DOCA_SUCCESS; \
	}

READER(get_operation_info, phy_operation, "phy_operation_info", DOCA_SUCCESS)
READER(get_module_info, phy_module, "phy_module_info", DOCA_ERROR_NOT_CONNECTED)
READER(get_counter_and_ber_info, phy_counters, "phy_counter_and_ber_info", DOCA_SUCCESS)
