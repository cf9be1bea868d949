// Plays the ethtool side of network drivers: a library whose `ioctl` answers SIOCETHTOOL from the file `script` beside it, which is read at every call and so may change at any time.
// Every other request goes to the C library. One line of the script a fact; `device` begins a device, what stands before the first one holds for the kernel.
//
//   kernel new               a count that does not fit gives nothing (Linux 6.19); without it all is written, as before
//   device eth0
//   driver NAME VERSION FIRMWARE ADDRESS      `-` is empty
//   link 1
//   settings SPEED DUPLEX PORT AUTONEGOTIATION WORDS SUPPORTED… ADVERTISED… PARTNER…       words in hex
//   stat VALUE NAME          one statistic, in order
//   errno CALL NUMBER        a call that fails; CALL is gdrvinfo, glink, gstrings, gstats, gsset_info or glinksettings
//   hang CALL                does not return while the script says so
//   crash CALL               ends the process with SIGSEGV
//   delay CALL MS
//   claim CALL COUNT         a wrong count of statistics
//   grow CALL COUNT          further statistics from the first such call on

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct call {
	const char *name;
	unsigned command;
};

static const struct call CALLS[] = {
	{ "gdrvinfo", ETHTOOL_GDRVINFO }, { "glink", ETHTOOL_GLINK },           { "gstrings", ETHTOOL_GSTRINGS },
	{ "gstats", ETHTOOL_GSTATS },     { "gsset_info", ETHTOOL_GSSET_INFO }, { "glinksettings", ETHTOOL_GLINKSETTINGS },
};

// What the script says of one device and one call.
struct answer {
	int known, error, hangs, crashes, delay_ms, claims, newer_kernel;
	unsigned claim, stats, grown;
	char (*names)[ETH_GSTRING_LEN];
	unsigned long long *values;
	char driver[4][ETHTOOL_BUSINFO_LEN];
	unsigned link, settings[5];
	unsigned masks[3 * 32];
};

// Devices that have grown. Never forgotten: a device of another name is another device.
static char grown[64][IFNAMSIZ];

static FILE *open_script(void)
{
	Dl_info self;
	char path[4096];
	if (!dladdr((void *)open_script, &self)) return NULL;
	const char *slash = strrchr(self.dli_fname, '/');
	snprintf(path, sizeof path, "%.*s/script", slash ? (int)(slash - self.dli_fname) : 1, slash ? self.dli_fname : ".");
	return fopen(path, "re");
}

static int has_grown(const char *device, int grows)
{
	for (unsigned i = 0; i < sizeof grown / sizeof *grown; i++) {
		if (strcmp(grown[i], device) == 0) return 1;
		if (grown[i][0] == 0) {
			if (grows) strncpy(grown[i], device, IFNAMSIZ - 1);
			return grows;
		}
	}
	return 0;
}

static void add_stat(struct answer *answer, const char *name, unsigned long long value)
{
	answer->names = realloc(answer->names, (answer->stats + 1) * sizeof *answer->names);
	answer->values = realloc(answer->values, (answer->stats + 1) * sizeof *answer->values);
	memset(answer->names[answer->stats], 0, ETH_GSTRING_LEN);
	memcpy(answer->names[answer->stats], name, strnlen(name, ETH_GSTRING_LEN));
	answer->values[answer->stats++] = value;
}

static void read_settings(struct answer *answer, const char *text)
{
	int at = 0, used = 0;
	for (int i = 0; i < 5 && sscanf(text + at, "%u%n", &answer->settings[i], &used) == 1; i++) at += used;
	for (unsigned i = 0; i < 3 * answer->settings[4] && i < 3 * 32; i++) {
		if (sscanf(text + at, "%x%n", &answer->masks[i], &used) != 1) break;
		at += used;
	}
}

static void read_fact(struct answer *answer, const char *line, const char *device, const char *call)
{
	char word[32] = "", name[32] = "";
	unsigned number = 0;
	int name_at = 0;
	unsigned long long value;
	sscanf(line, "%31s %31s %u", word, name, &number);
	if (strcmp(word, "stat") == 0 && sscanf(line, "stat %llu %n", &value, &name_at) == 1) add_stat(answer, line + name_at, value);
	if (strcmp(word, "link") == 0) sscanf(line, "link %u", &answer->link);
	if (strcmp(word, "settings") == 0) read_settings(answer, line + strlen("settings"));
	if (strcmp(word, "driver") == 0) {
		sscanf(line, "driver %31s %31s %31s %31s", answer->driver[0], answer->driver[1], answer->driver[2], answer->driver[3]);
		for (int i = 0; i < 4; i++) if (strcmp(answer->driver[i], "-") == 0) answer->driver[i][0] = 0;
	}
	if (strcmp(word, "grow") == 0 && has_grown(device, strcmp(name, call) == 0)) answer->grown = number;
	if (strcmp(name, call) != 0) return;
	if (strcmp(word, "errno") == 0) answer->error = (int)number;
	if (strcmp(word, "hang") == 0) answer->hangs = 1;
	if (strcmp(word, "crash") == 0) answer->crashes = 1;
	if (strcmp(word, "delay") == 0) answer->delay_ms = (int)number;
	if (strcmp(word, "claim") == 0) answer->claims = 1, answer->claim = number;
}

static struct answer read_script(const char *device, const char *call)
{
	struct answer answer = { 0 };
	char line[4096], current[IFNAMSIZ] = "";
	FILE *script = open_script();
	if (script == NULL) return answer;
	while (fgets(line, sizeof line, script)) {
		line[strcspn(line, "\n")] = 0;
		if (sscanf(line, "device %15s", current) == 1) {
			if (strcmp(current, device) == 0) answer.known = 1;
		} else if (strcmp(line, "kernel new") == 0) {
			answer.newer_kernel = 1;
		} else if (strcmp(current, device) == 0) {
			read_fact(&answer, line, device, call);
		}
	}
	fclose(script);
	for (unsigned i = 0; i < answer.grown; i++) {
		char name[ETH_GSTRING_LEN];
		snprintf(name, sizeof name, "grown_%u", i);
		add_stat(&answer, name, i);
	}
	return answer;
}

static void forget(struct answer *answer)
{
	free(answer->names);
	free(answer->values);
}

static void fill_settings(const struct answer *answer, struct ethtool_link_settings *settings)
{
	int words = (int)answer->settings[4];
	if (settings->link_mode_masks_nwords != words) {
		memset(settings, 0, sizeof *settings);
		settings->cmd = ETHTOOL_GLINKSETTINGS;
		settings->link_mode_masks_nwords = (signed char)-words;
		return;
	}
	settings->speed = answer->settings[0];
	settings->duplex = (unsigned char)answer->settings[1];
	settings->port = (unsigned char)answer->settings[2];
	settings->autoneg = (unsigned char)answer->settings[3];
	memcpy(settings->link_mode_masks, answer->masks, sizeof(unsigned) * 3 * (unsigned)words);
}

static void fill(const struct answer *answer, void *data)
{
	unsigned count = answer->claims ? answer->claim : answer->stats;
	struct ethtool_drvinfo *info = data;
	struct ethtool_gstrings *strings = data;
	struct ethtool_stats *stats = data;
	struct ethtool_sset_info *sets = data;
	int refuses;
	switch (*(unsigned *)data) {
	case ETHTOOL_GDRVINFO:
		memcpy(info->driver, answer->driver[0], sizeof info->driver);
		memcpy(info->version, answer->driver[1], sizeof info->version);
		memcpy(info->fw_version, answer->driver[2], sizeof info->fw_version);
		memcpy(info->bus_info, answer->driver[3], sizeof info->bus_info);
		break;
	case ETHTOOL_GLINK:
		((struct ethtool_value *)data)->data = answer->link;
		break;
	case ETHTOOL_GSSET_INFO:
		sets->data[0] = count;
		break;
	case ETHTOOL_GSTRINGS:
		refuses = answer->newer_kernel && strings->len != answer->stats;
		strings->len = refuses ? 0 : count;
		if (!refuses) memcpy(strings->data, answer->names, answer->stats * ETH_GSTRING_LEN);
		break;
	case ETHTOOL_GSTATS:
		refuses = answer->newer_kernel && stats->n_stats != answer->stats;
		stats->n_stats = refuses ? 0 : count;
		if (!refuses) memcpy(stats->data, answer->values, answer->stats * sizeof *answer->values);
		break;
	case ETHTOOL_GLINKSETTINGS:
		fill_settings(answer, data);
		break;
	}
}

static int answer_call(const char *device, const char *call, void *data)
{
	struct answer answer = read_script(device, call);
	while (answer.hangs) {
		forget(&answer);
		usleep(5000);
		answer = read_script(device, call);
	}
	if (answer.crashes) raise(SIGSEGV);
	usleep((unsigned)answer.delay_ms * 1000);
	int error = answer.known ? answer.error : ENODEV;
	if (error == 0) fill(&answer, data);
	forget(&answer);
	errno = error;
	return error == 0 ? 0 : -1;
}

int ioctl(int descriptor, unsigned long request, void *argument)
{
	if (request == SIOCETHTOOL) {
		struct ifreq *interface = argument;
		unsigned command = *(unsigned *)interface->ifr_data;
		for (unsigned i = 0; i < sizeof CALLS / sizeof *CALLS; i++) {
			if (CALLS[i].command == command) return answer_call(interface->ifr_name, CALLS[i].name, interface->ifr_data);
		}
		errno = EOPNOTSUPP;
		return -1;
	}
	int (*next)(int, unsigned long, void *) = (int (*)(int, unsigned long, void *))dlsym(RTLD_NEXT, "ioctl");
	return next(descriptor, request, argument);
}
