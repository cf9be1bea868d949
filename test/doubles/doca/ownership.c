// Who owns the diagnostic counters of a card: all of its functions share one set, and so do all processes.

#define _GNU_SOURCE
#include "diag.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#define OWNERS_MAX 64

// A context that owns the counters, whichever process has it.
struct owner {
	int pid; // 0: the place is free
	uint64_t context, generation;
	char name[NAME_BYTES];
};

// The file of a card, whose name is the address without the function; locked until it is closed.
static int card_open(const struct call *call)
{
	char path[4096];
	const char *dot = strrchr(call->facts->pci, '.');
	snprintf(path, sizeof path, "%s/card-%.*s", call->world->folder,
		dot ? (int)(dot - call->facts->pci) : (int)strlen(call->facts->pci), call->facts->pci);
	int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
	if (file < 0 || flock(file, LOCK_EX) != 0) die("%s cannot be opened", path);
	return file;
}

// A process that ended owns nothing, nor does a context of a device that left.
static int is_living(const struct call *call, const struct owner *owner)
{
	if (owner->pid == 0 || (kill(owner->pid, 0) != 0 && errno == ESRCH)) return 0;
	for (unsigned i = 0; i < call->scenario->device_count; i++) {
		const struct facts *facts = &call->scenario->devices[i];
		if (strcmp(facts->name, owner->name) == 0) return facts->generation == owner->generation;
	}
	return 0;
}

int ownership_take(const struct call *call, const diag_context *diag, uint64_t generation, int force)
{
	struct owner owners[OWNERS_MAX] = { 0 }, *place = NULL;
	int file = card_open(call), is_owned = call->facts->owned != 0;
	if (pread(file, owners, sizeof owners, 0) < 0) die("the file of a card cannot be read");
	for (unsigned i = 0; i < OWNERS_MAX; i++) {
		if (is_living(call, &owners[i])) is_owned = 1;
		else place = &owners[i];
	}
	int taken = place && call->facts->owned != 2 && (force || !is_owned);
	if (taken) {
		*place = (struct owner){ getpid(), (uint64_t)(uintptr_t)diag, generation, "" };
		snprintf(place->name, sizeof place->name, "%s", call->facts->name);
		if (pwrite(file, owners, sizeof owners, 0) < 0) die("the file of a card cannot be written");
	}
	close(file);
	return taken;
}

// Of a device that left nothing is owned anyway.
void ownership_leave(const struct call *call, const diag_context *diag)
{
	struct owner owners[OWNERS_MAX] = { 0 };
	if (call->removed) return;
	int file = card_open(call);
	if (pread(file, owners, sizeof owners, 0) < 0) die("the file of a card cannot be read");
	for (unsigned i = 0; i < OWNERS_MAX; i++) {
		if (owners[i].pid == getpid() && owners[i].context == (uint64_t)(uintptr_t)diag) owners[i].pid = 0;
	}
	if (pwrite(file, owners, sizeof owners, 0) < 0) die("the file of a card cannot be written");
	close(file);
}
