// doca_telemetry_adp_retx of the double: a histogram whose bins grow at the scenario's rates while counting is on.

#define _GNU_SOURCE
#include "double.h"
#include <stdlib.h>

#define ADP_RETX 0xdeca0002u
#define BEYOND 0xbadbadbadbadbad0u // what stands in the bins that were not asked for

enum doca_telemetry_adp_retx_hist_time_unit { NSEC = 1, USEC = 2, USEC_100 = 4, MSEC = 8 };
enum doca_telemetry_adp_retx_hist_bin_width_mode { FIXED, DOUBLE };

struct doca_telemetry_adp_retx {
	struct context context;
	int started;
	uint64_t since_ns, asked_ns, made_change, seen_change;
	uint32_t num_bins;
	uint16_t bin0_width, bin1_width, vhca_id;
	uint8_t clear_on_read, count_enable, vhca_set;
	enum doca_telemetry_adp_retx_hist_bin_width_mode bin_width_mode;
	enum doca_telemetry_adp_retx_hist_time_unit time_unit;
};

typedef struct doca_telemetry_adp_retx retx;
#define SHORT(name) doca_telemetry_adp_retx_##name

#define CAPABILITY(info) \
	CALL_INFO(info, DOCA_ERROR_OPERATING_SYSTEM); \
	NEEDS(call.facts->adp_retx, DOCA_ERROR_NOT_SUPPORTED)

API doca_error_t SHORT(cap_is_supported)(const struct doca_devinfo *devinfo)
{
	CAPABILITY(devinfo);
	return DOCA_SUCCESS;
}

API doca_error_t SHORT(cap_histogram_is_supported)(const struct doca_devinfo *devinfo)
{
	CAPABILITY(devinfo);
	NEEDS(call.facts->histogram, DOCA_ERROR_NOT_SUPPORTED);
	return DOCA_SUCCESS;
}

API doca_error_t SHORT(cap_get_hist_max_bins)(const struct doca_devinfo *devinfo, uint32_t *max_bins)
{
	NEEDS(max_bins, DOCA_ERROR_INVALID_VALUE);
	CAPABILITY(devinfo);
	*max_bins = (uint32_t)call_claim(&call, (uint64_t)call.facts->max_bins);
	return DOCA_SUCCESS;
}

API doca_error_t SHORT(cap_get_hist_time_units)(const struct doca_devinfo *devinfo, uint32_t *time_units)
{
	NEEDS(time_units, DOCA_ERROR_INVALID_VALUE);
	CAPABILITY(devinfo);
	*time_units = (uint32_t)call.facts->time_units;
	return DOCA_SUCCESS;
}

API doca_error_t SHORT(create)(struct doca_dev *dev, retx **adp_retx)
{
	NEEDS(dev && adp_retx, DOCA_ERROR_INVALID_VALUE);
	CALL_INFO(&dev->info, DOCA_ERROR_DRIVER);
	NEEDS(call.facts->adp_retx, DOCA_ERROR_DRIVER);
	*adp_retx = calloc(1, sizeof **adp_retx);
	return context_open(dev, &(*adp_retx)->context, ADP_RETX);
}

API doca_error_t SHORT(destroy)(retx *adp_retx)
{
	CALL(adp_retx, ADP_RETX, DOCA_SUCCESS);
	NEEDS(!adp_retx->started, DOCA_ERROR_BAD_STATE);
	context_close(&adp_retx->context);
	return DOCA_SUCCESS;
}

API doca_error_t SHORT(start)(retx *adp_retx)
{
	CALL(adp_retx, ADP_RETX, DOCA_ERROR_DRIVER);
	NEEDS(!adp_retx->started, DOCA_ERROR_BAD_STATE);
	NEEDS(adp_retx->num_bins && adp_retx->bin0_width && adp_retx->bin1_width && adp_retx->time_unit,
		DOCA_ERROR_INVALID_VALUE);
	adp_retx->started = 1;
	adp_retx->since_ns = adp_retx->asked_ns = call_elapsed_ns(&call);
	adp_retx->made_change = adp_retx->seen_change = call.facts->change.serial;
	return DOCA_SUCCESS;
}

API doca_error_t SHORT(stop)(retx *adp_retx)
{
	CALL(adp_retx, ADP_RETX, DOCA_SUCCESS);
	NEEDS(adp_retx->started, DOCA_ERROR_BAD_STATE);
	adp_retx->started = 0;
	return call.removed ? DOCA_ERROR_DRIVER : DOCA_SUCCESS;
}

// A setter, which wants a stopped context and a value that `valid` accepts, and its getter.
#define PROPERTY(type, field, valid, refusal) \
	API doca_error_t SHORT(set_hist_##field)(retx *adp_retx, type value) \
	{ \
		CALL(adp_retx, ADP_RETX, DOCA_SUCCESS); \
		NEEDS(!adp_retx->started, DOCA_ERROR_BAD_STATE); \
		NEEDS(call.removed || (valid), refusal); \
		adp_retx->field = value; \
		return DOCA_SUCCESS; \
	} \
	API doca_error_t SHORT(get_hist_##field)(retx *adp_retx, type *value) \
	{ \
		NEEDS(value, DOCA_ERROR_INVALID_VALUE); \
		CALL(adp_retx, ADP_RETX, DOCA_SUCCESS); \
		*value = adp_retx->field; \
		return DOCA_SUCCESS; \
	}

PROPERTY(uint32_t, num_bins, value > 0 && value <= (uint32_t)call.facts->max_bins, DOCA_ERROR_INVALID_VALUE)
PROPERTY(uint16_t, bin0_width, value > 0, DOCA_ERROR_INVALID_VALUE)
PROPERTY(uint16_t, bin1_width, value > 0, DOCA_ERROR_INVALID_VALUE)
PROPERTY(enum doca_telemetry_adp_retx_hist_bin_width_mode, bin_width_mode, value <= DOUBLE, DOCA_ERROR_INVALID_VALUE)
PROPERTY(enum doca_telemetry_adp_retx_hist_time_unit, time_unit,
	value && (value & (value - 1)) == 0 && (value & (uint32_t)call.facts->time_units), DOCA_ERROR_INVALID_VALUE)
PROPERTY(uint8_t, clear_on_read, value <= 1, DOCA_ERROR_INVALID_VALUE)
PROPERTY(uint8_t, count_enable, value <= 1, DOCA_ERROR_INVALID_VALUE)

API doca_error_t SHORT(set_hist_vhca_id)(retx *adp_retx, uint16_t vhca_id)
{
	CALL(adp_retx, ADP_RETX, DOCA_SUCCESS);
	NEEDS(!adp_retx->started, DOCA_ERROR_BAD_STATE);
	adp_retx->vhca_set = 1;
	adp_retx->vhca_id = vhca_id;
	return DOCA_SUCCESS;
}

API doca_error_t SHORT(unset_hist_vhca_id)(retx *adp_retx)
{
	CALL(adp_retx, ADP_RETX, DOCA_SUCCESS);
	NEEDS(!adp_retx->started, DOCA_ERROR_BAD_STATE);
	adp_retx->vhca_set = 0;
	return DOCA_SUCCESS;
}

API doca_error_t SHORT(get_hist_vhca_id)(retx *adp_retx, uint8_t *vhca_set, uint16_t *vhca_id)
{
	NEEDS(vhca_set && vhca_id, DOCA_ERROR_INVALID_VALUE);
	CALL(adp_retx, ADP_RETX, DOCA_SUCCESS);
	*vhca_set = adp_retx->vhca_set;
	*vhca_id = adp_retx->vhca_id;
	return DOCA_SUCCESS;
}

// Somebody else configures the histogram by a line of the scenario with another serial. Since the previous call events
// are counted in these bins, whether or not the change was detected.
static void make_change(const struct call *call, retx *adp_retx)
{
	const struct change *change = &call->facts->change;
	uint64_t before_ns = adp_retx->asked_ns;
	adp_retx->asked_ns = call_elapsed_ns(call);
	if (change->serial == adp_retx->made_change) return;
	adp_retx->made_change = change->serial;
	adp_retx->num_bins = (uint32_t)change->bins;
	adp_retx->bin0_width = (uint16_t)change->bin0;
	adp_retx->bin1_width = (uint16_t)change->bin1;
	adp_retx->bin_width_mode = (enum doca_telemetry_adp_retx_hist_bin_width_mode)change->mode;
	adp_retx->time_unit = (enum doca_telemetry_adp_retx_hist_time_unit)change->unit;
	adp_retx->since_ns = before_ns;
}

API doca_error_t SHORT(detect_hist_conf_change)(retx *adp_retx, uint8_t *change_detected)
{
	NEEDS(change_detected, DOCA_ERROR_INVALID_VALUE);
	CALL(adp_retx, ADP_RETX, DOCA_ERROR_OPERATING_SYSTEM);
	NEEDS(adp_retx->started, DOCA_ERROR_BAD_STATE);
	make_change(&call, adp_retx);
	*change_detected = adp_retx->made_change != adp_retx->seen_change;
	adp_retx->seen_change = adp_retx->made_change;
	return DOCA_SUCCESS;
}

// All `max_bins` values are written, as the library does; those beyond `num_bins` are nonsense.
API doca_error_t SHORT(read_hist_bins)(retx *adp_retx, uint32_t *bins_populated, uint64_t *bins)
{
	NEEDS(bins_populated && bins, DOCA_ERROR_INVALID_VALUE);
	CALL(adp_retx, ADP_RETX, DOCA_ERROR_OPERATING_SYSTEM);
	NEEDS(adp_retx->started, DOCA_ERROR_BAD_STATE);
	make_change(&call, adp_retx);
	uint64_t now_ns = call_elapsed_ns(&call), for_ns = now_ns - adp_retx->since_ns;
	int counts = adp_retx->count_enable && (!adp_retx->vhca_set || adp_retx->vhca_id == call.facts->vhca_id);
	for (uint32_t i = 0; i < (uint32_t)call.facts->max_bins; i++) {
		uint64_t rate = counts && i < BINS_MAX ? call.facts->bin_rates[i] : 0;
		bins[i] = i < adp_retx->num_bins ? (uint64_t)((unsigned __int128)rate * for_ns / 1000000000) : BEYOND + i;
	}
	if (adp_retx->clear_on_read) adp_retx->since_ns = now_ns;
	*bins_populated = (uint32_t)call_claim(&call, adp_retx->num_bins);
	return DOCA_SUCCESS;
}
