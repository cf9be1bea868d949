// libdoca_common of the double: devices, names of errors, and the log.

#define _GNU_SOURCE
#include "double.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEV 0xdeca0001u
#define BACKENDS_MAX 8
#define SPARE 64 // elements that are NULL, for a scenario that claims too many

struct doca_log_backend {
	int descriptor;
};

static struct world *the_world;

static void open_world(void)
{
	the_world = world_open((void *)open_world);
}

static struct world *world(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_once(&once, open_world);
	return the_world;
}

#define CALL_WORLD() \
	struct call call __attribute__((cleanup(call_end))) = call_begin(world(), NULL, 0, __func__, DOCA_SUCCESS); \
	if (call.error) return call.error

API const char *sonde_doca_double(void)
{
	return "doca double";
}

// Lists

API doca_error_t doca_devinfo_create_list(struct doca_devinfo ***dev_list, uint32_t *nb_devs)
{
	NEEDS(dev_list && nb_devs, DOCA_ERROR_INVALID_VALUE);
	CALL_WORLD();
	unsigned number = call.scenario->device_count;
	NEEDS(number > 0, DOCA_ERROR_NOT_FOUND);
	struct doca_devinfo **list = calloc(number + SPARE, sizeof *list);
	struct doca_devinfo *infos = calloc(number, sizeof *infos);
	for (unsigned i = 0; i < number; i++) {
		const struct facts *facts = &call.scenario->devices[i];
		infos[i].device = world_device(call.world, facts->name);
		infos[i].generation = facts->generation;
		list[i] = &infos[i];
	}
	count(call.world->lists, 1);
	*dev_list = list;
	*nb_devs = (uint32_t)call_claim(&call, number);
	return DOCA_SUCCESS;
}

API doca_error_t doca_devinfo_destroy_list(struct doca_devinfo **dev_list)
{
	NEEDS(dev_list, DOCA_ERROR_INVALID_VALUE);
	CALL_WORLD();
	// An element that is used later has no device.
	for (unsigned i = 0; dev_list[i]; i++) dev_list[i]->device = NULL;
	free(dev_list);
	count(call.world->lists, -1);
	return DOCA_SUCCESS;
}

// Properties of a device

API doca_error_t doca_devinfo_get_pci_addr_str(const struct doca_devinfo *devinfo, char *pci_addr_str)
{
	NEEDS(pci_addr_str, DOCA_ERROR_INVALID_VALUE);
	CALL_INFO(devinfo, DOCA_ERROR_OPERATING_SYSTEM);
	strcpy(pci_addr_str, call.facts->pci);
	return DOCA_SUCCESS;
}

API doca_error_t doca_devinfo_is_equal_pci_addr(const struct doca_devinfo *devinfo, const char *pci_addr_str,
	uint8_t *is_equal)
{
	NEEDS(pci_addr_str && is_equal, DOCA_ERROR_INVALID_VALUE);
	CALL_INFO(devinfo, DOCA_ERROR_OPERATING_SYSTEM);
	const char *domain_end = strchr(call.facts->pci, ':');
	*is_equal = strcmp(call.facts->pci, pci_addr_str) == 0 || (domain_end && strcmp(domain_end + 1, pci_addr_str) == 0);
	return DOCA_SUCCESS;
}

API doca_error_t doca_devinfo_get_ibdev_name(const struct doca_devinfo *devinfo, char *ibdev_name, uint32_t size)
{
	NEEDS(ibdev_name && size >= NAME_BYTES, DOCA_ERROR_INVALID_VALUE);
	CALL_INFO(devinfo, DOCA_ERROR_OPERATING_SYSTEM);
	snprintf(ibdev_name, size, "%s", call.facts->name);
	return DOCA_SUCCESS;
}

API doca_error_t doca_devinfo_get_iface_name(const struct doca_devinfo *devinfo, char *iface_name, uint32_t size)
{
	NEEDS(iface_name && size >= sizeof ((struct facts *)0)->iface, DOCA_ERROR_INVALID_VALUE);
	CALL_INFO(devinfo, DOCA_ERROR_OPERATING_SYSTEM);
	NEEDS(call.facts->iface[0], DOCA_ERROR_OPERATING_SYSTEM);
	snprintf(iface_name, size, "%s", call.facts->iface);
	return DOCA_SUCCESS;
}

API doca_error_t doca_devinfo_get_mac_addr(const struct doca_devinfo *devinfo, uint8_t *mac_addr, uint32_t size)
{
	NEEDS(mac_addr && size >= 6, DOCA_ERROR_INVALID_VALUE);
	CALL_INFO(devinfo, DOCA_ERROR_OPERATING_SYSTEM);
	NEEDS(call.facts->mac[0], DOCA_ERROR_NOT_SUPPORTED);
	for (int i = 0; i < 6; i++) mac_addr[i] = (uint8_t)strtoul(call.facts->mac + 3 * i, NULL, 16);
	return DOCA_SUCCESS;
}

API doca_error_t doca_devinfo_get_active_rate(const struct doca_devinfo *devinfo, double *active_rate)
{
	NEEDS(active_rate, DOCA_ERROR_INVALID_VALUE);
	CALL_INFO(devinfo, DOCA_ERROR_OPERATING_SYSTEM);
	*active_rate = (double)call.facts->active_rate_mbps / 1000;
	return DOCA_SUCCESS;
}

// Open devices

API doca_error_t doca_dev_open(struct doca_devinfo *devinfo, struct doca_dev **dev)
{
	NEEDS(dev, DOCA_ERROR_INVALID_VALUE);
	CALL_INFO(devinfo, DOCA_ERROR_NOT_CONNECTED);
	struct doca_dev *opened = calloc(1, sizeof *opened);
	opened->magic = DEV;
	opened->info = *devinfo;
	count(call.world->opens, 1);
	*dev = opened;
	return DOCA_SUCCESS;
}

// Its memory is never used again, so that a later call with it is found.
API doca_error_t doca_dev_close(struct doca_dev *dev)
{
	NEEDS(dev, DOCA_ERROR_INVALID_VALUE);
	if (dev->magic != DEV) die("doca_dev_close is called with a device that is closed");
	CALL_INFO(&dev->info, DOCA_SUCCESS);
	NEEDS(dev->contexts == 0, DOCA_ERROR_IN_USE);
	dev->magic = 0;
	count(call.world->opens, -1);
	return DOCA_SUCCESS;
}

API struct doca_devinfo *doca_dev_as_devinfo(const struct doca_dev *dev)
{
	return dev && dev->magic == DEV ? (struct doca_devinfo *)&dev->info : NULL;
}

// Names of errors

API const char *doca_error_get_name(doca_error_t error)
{
	return error_name(error);
}

API const char *doca_error_get_descr(doca_error_t error)
{
	static char texts[DOCA_ERROR_DEVICE_FATAL_ERROR + 1][64];
	if ((unsigned)error > DOCA_ERROR_DEVICE_FATAL_ERROR) error = DOCA_ERROR_UNKNOWN;
	snprintf(texts[error], sizeof texts[error], "The double says %s", error_name(error));
	return texts[error];
}

// The log: each error that a call returns by the scenario is a line.

API doca_error_t doca_log_backend_create_standard(void)
{
	CALL_WORLD();
	return DOCA_SUCCESS;
}

API doca_error_t doca_log_backend_create_with_fd_sdk(int fd, struct doca_log_backend **backend)
{
	NEEDS(backend && fd >= 0, DOCA_ERROR_INVALID_VALUE);
	CALL_WORLD();
	NEEDS(call.world->backends->value < BACKENDS_MAX, DOCA_ERROR_FULL);
	*backend = calloc(1, sizeof **backend);
	(*backend)->descriptor = fd;
	call.world->log_descriptor = fd;
	count(call.world->backends, 1);
	return DOCA_SUCCESS;
}

static doca_error_t set_level(struct call *call, uint32_t level)
{
	NEEDS(level >= 10 && level <= 70 && level % 10 == 0, DOCA_ERROR_INVALID_VALUE);
	call->world->log_level = (int)level;
	return DOCA_SUCCESS;
}

API doca_error_t doca_log_backend_set_sdk_level(struct doca_log_backend *backend, uint32_t level)
{
	NEEDS(backend, DOCA_ERROR_INVALID_VALUE);
	CALL_WORLD();
	return set_level(&call, level);
}

API doca_error_t doca_log_level_set_global_sdk_limit(uint32_t level)
{
	CALL_WORLD();
	return set_level(&call, level);
}

API doca_error_t doca_log_level_set_global_lower_limit(uint32_t level)
{
	CALL_WORLD();
	NEEDS(level >= 10 && level <= 70 && level % 10 == 0, DOCA_ERROR_INVALID_VALUE);
	return DOCA_SUCCESS;
}
