// Layouts and numbers of <linux/ethtool.h>, which the kernel never changes; all members are in the byte order of the
// machine, little-endian on all that we run on.

/** Request of `ioctl` that carries all others. */
export const SIOCETHTOOL = 0x8946

/** `cmd` of the structures, by the name of the call. */
export const COMMANDS = {
  ETHTOOL_GDRVINFO: 0x03,
  ETHTOOL_GLINK: 0x0a,
  ETHTOOL_GSTRINGS: 0x1b,
  ETHTOOL_GSTATS: 0x1d,
  ETHTOOL_GSSET_INFO: 0x37,
  ETHTOOL_GLINKSETTINGS: 0x4c,
} as const

/** A call. */
export type EthtoolCall = keyof typeof COMMANDS

/** The string set that names the statistics. */
export const ETH_SS_STATS = 1

/**
 * `struct ifreq`: the name of the interface and the address of the structure that belongs to the command. Unit of
 * offsets and sizes: bytes.
 */
export const IFREQ = { name: 0, nameBytes: 16, data: 16 } as const

/** `struct ethtool_drvinfo`. */
export const DRVINFO = {
  driver: { at: 4, bytes: 32 },
  version: { at: 36, bytes: 32 },
  firmware: { at: 68, bytes: 32 },
  busInfo: { at: 100, bytes: 32 },
  size: 196,
} as const

/** `struct ethtool_value`, as ETHTOOL_GLINK fills it. */
export const VALUE = { data: 4, size: 8 } as const

/** `struct ethtool_sset_info`. */
export const SSET_INFO = { mask: 8, counts: 16, size: 20 } as const

/** `struct ethtool_gstrings`. */
export const GSTRINGS = { stringSet: 4, count: 8, strings: 12, stringBytes: 32 } as const

/** `struct ethtool_stats`. */
export const STATS = { count: 4, values: 8, valueBytes: 8 } as const

/**
 * `struct ethtool_link_settings`. The three masks follow one another: supported, advertised, advertised by the other
 * side.
 */
export const LINK_SETTINGS = {
  speed: 4,
  duplex: 8,
  port: 9,
  autonegotiation: 11,
  maskWords: 15,
  masks: 48,
  maskCount: 3,
} as const
