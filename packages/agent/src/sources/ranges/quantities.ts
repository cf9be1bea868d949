import { Missing } from '../field-absences.ts'

/** Possible values of a physical quantity. */
export interface Quantity {
  /** The quantity as a noun: `a percentage`. */
  readonly words: string
  /** Unit as people write it after a number; empty if there is none. */
  readonly unit: string
  readonly least: number
  readonly most: number
  /** Values inside the range that drivers use for "unknown". Default: none. */
  readonly unknown?: readonly number[]
  /** Why a driver reports a value below the minimum. Default: unknown. */
  readonly below?: string
}

const GIGA = 1e9
const MEBIBYTE = 2 ** 20
const U32_MAX = 2 ** 32 - 1
const BYTES_PER_MEGABIT = 125_000
const NOT_SET = 'nobody has set it'

/**
 * The only table of possible values of a physical quantity. Each bound is far beyond the best known hardware, and below
 * the values by which registers and drivers mean "unknown". A value outside is no measurement. Each comment gives the
 * source of the bound.
 */
export const QUANTITIES = {
  /** The range of 64 bits. */
  count: { words: 'a count', unit: '', least: 0, most: 2 ** 64 },
  /** By definition. */
  percent: { words: 'a percentage', unit: '%', least: 0, most: 100 },
  /** By definition. DCGM divides two counters that it reads one after the other, so a busy unit may have 1.0002. */
  ratio: { words: 'a ratio', unit: '', least: 0, most: 1.05 },
  /** Bit error rate: wrong bits among all bits. */
  errorRate: { words: 'an error rate', unit: '', least: 0, most: 1 },
  /** Processor time per elapsed time: 1 for each core. No kernel supports more cores. */
  cores: { words: 'a share of processors', unit: '', least: 0, most: 8192 },
  /** Industrial parts work from −40 °C, military parts from −55 °C; silicon fails above 175 °C. */
  temperature: { words: 'a temperature of hardware', unit: '°C', least: -55, most: 200 },
  /** Drivers report 0, or the lowest value of the sensor, for a limit that is not set. */
  temperatureLimit: { words: 'a limit of a temperature', unit: '°C', least: 1, most: 200, below: NOT_SET },
  /** NVML has no negative temperatures; the largest threshold of a GPU is 105 °C. */
  gpuTemperature: { words: 'the temperature of a GPU', unit: '°C', least: -40, most: 150 },
  /** NVML and DCGM report 0 for memory without a sensor; HBM in use is warmer. */
  gpuMemoryTemperature: {
    ...{ words: 'the temperature of memory with a sensor', unit: '°C', least: 1, most: 150 },
    below: 'a GPU without that sensor reports 0',
  },
  /** The largest announced modules draw 3.6 kW. */
  gpuPower: { words: 'the power of a GPU', unit: 'W', least: 0, most: 10_000 },
  gpuPowerLimit: { words: 'a power limit of a GPU', unit: 'W', least: 0.001, most: 10_000, below: NOT_SET },
  /** Meters count in microwatts. The largest announced rack draws 600 kW. The "unknown" value is 32 one bits. */
  power: {
    ...{ words: 'a power', unit: 'W', least: 0, most: 1e6 },
    unknown: [U32_MAX / 1e6],
  },
  powerLimit: {
    ...{ words: 'a limit of a power', unit: 'W', least: 0.001, most: 1e6, below: NOT_SET },
    unknown: [U32_MAX / 1e6],
  },
  /** A slot of PCIe gives 75 W, its widest connector 600 W; the field has 16 bits. */
  slotPower: { words: 'the power of a slot', unit: 'W', least: 0, most: 2000 },
  /** The fastest 40 mm fans reach 40 000 rpm; 65 535 is 16 one bits. */
  fanSpeed: { words: 'the speed of a fan', unit: 'rpm', least: 0, most: 60_000 },
  /** Memory of GPUs has the highest effective clock, 18 GHz today; processors stay below 10 GHz. */
  megahertz: { words: 'a clock', unit: 'MHz', least: 0, most: 50_000 },
  hertz: { words: 'a clock that runs', unit: 'Hz', least: 1, most: 50 * GIGA },
  /** Physical addresses have 52 bits on x86-64, and 56 on Arm from version 9.4 on. */
  memory: { words: 'a size of memory', unit: 'bytes', least: 0, most: 2 ** 56 },
  /** Promised memory is not in use yet: each process may request 2^57 bytes. The kernel prints −1 kB as 2^64 − 1. */
  promisedMemory: { words: 'promised memory', unit: 'bytes', least: 0, most: 2 ** 63 },
  /** A GPU has 288 GB today. A superchip can address 1 TB in total. */
  gpuMemory: { words: 'the memory of a GPU', unit: 'MiB', least: 0, most: 2 ** 24 },
  gpuMemoryBytes: { words: 'the memory of a GPU', unit: 'bytes', least: 0, most: 2 ** 44 },
  /** Packet sizes: InfiniBand and loopback have up to 65 535 and 65 536 bytes, some tunnels 2^31 − 1. */
  packet: { words: 'a size of a packet', unit: 'bytes', least: 0, most: 2 ** 31 },
  /** Links reach 1.6 Tb/s, PCIe 7.0 with 16 lanes 2 Tb/s. Ethtool reports 65 535 Mb/s or 32 one bits for "unknown". */
  linkSpeed: {
    ...{ words: 'the speed of a link', unit: 'bytes/s', least: 1, most: 1000 * GIGA },
    unknown: [65_535 * BYTES_PER_MEGABIT, U32_MAX * BYTES_PER_MEGABIT],
  },
  /** All NVLink links of a GPU: the largest announced speed is 1.8 TB/s in each direction. */
  nvlinkSpeed: { words: 'the speed of NVLink', unit: 'bytes/s', least: 0, most: 10_000 * GIGA },
  nvlinkMebibytes: { words: 'the throughput of NVLink', unit: 'MiB/s', least: 0, most: (20_000 * GIGA) / MEBIBYTE },
  /** PCIe 7.0 with 16 lanes. If the link of a GPU is known, its own bound is checked too. */
  pcieThroughput: { words: 'the throughput of PCIe', unit: 'bytes/s', least: 0, most: 300 * GIGA },
  /** PCIe doubles with each generation, from 2.5 GT/s; the seventh has 128 GT/s. */
  transferRate: { words: 'a transfer rate of PCIe', unit: 'transfers/s', least: 2.5e9, most: 256e9 },
  pcieGeneration: { words: 'a generation of PCIe', unit: '', least: 1, most: 8 },
  /** PCIe has up to 32 lanes, InfiniBand 12, Ethernet 8 (in the modes that Linux lists). */
  lanes: { words: 'a number of lanes', unit: '', least: 1, most: 32 },
  /** Optical modules use 3.3 V; the supply of a rack has 54 V. */
  volts: { words: 'a supply voltage', unit: 'V', least: 0, most: 60 },
  /** Lasers of modules use less than 200 mA. */
  amperes: { words: 'a bias current', unit: 'A', least: 0, most: 1 },
  /** A module reports light in 0.1 µW with 16 bits, −40 dBm to 8.2 dBm, and −40 without light. */
  opticalPower: { words: 'an optical power', unit: 'dBm', least: -60, most: 20 },
  noise: { words: 'a ratio of signal and noise', unit: 'dB', least: -20, most: 100 },
  /** Durations, and points in time until the year 2286. */
  seconds: { words: 'a time', unit: 's', least: 0, most: 1e10 },
  /** A clock may be ahead or behind. */
  clockOffset: { words: 'an offset of a clock', unit: 's', least: -1e10, most: 1e10 },
  /** The kernel allows 500 parts in a million. */
  clockAdjustment: { words: 'the adjustment of a clock', unit: '', least: -0.1, most: 0.1 },
  /** Linux supports up to 1 024 NUMA nodes. */
  numaNode: { words: 'the number of a NUMA node', unit: '', least: 0, most: 1023 },
  /**
   * The kernel reports −1 if the firmware does not state it. APIC ids have 32 bits, and no machine has that many
   * sockets.
   */
  package: { words: 'the number of a package', unit: '', least: 0, most: 65_534, below: 'the kernel does not know it' },
  /** NVML reports 32 for an unknown performance state. */
  performanceState: { words: 'a performance state', unit: '', least: 0, most: 15 },
  flag: { words: 'a flag', unit: '', least: 0, most: 1 },
  /** XID errors have up to three digits; the label of their counts has 16 bits. */
  xid: { words: 'the number of an XID error', unit: '', least: 0, most: 65_535 },
  /** A B200 has 160. */
  multiprocessors: { words: 'a number of multiprocessors', unit: '', least: 1, most: 4096 },
  /** A B200 has 18, a switch 72. */
  nvlinkLinks: { words: 'a number of NVLink links', unit: '', least: 0, most: 144 },
} as const satisfies Readonly<Record<string, Quantity>>

/**
 * Explains why a number is not a possible value of a quantity; undefined if it is possible. Values that drivers use for
 * "unknown" give the code `unsupported`, all others `failed`.
 */
export function impossible(quantity: Quantity, value: number | bigint): Missing | undefined {
  const { words, unit, least, most, unknown, below } = quantity
  const written = (number: number | bigint) => (unit === '' ? `${number}` : `${number} ${unit}`)
  const told = `${written(value)} was reported`
  if (value >= least && value <= most) {
    if (unknown?.includes(Number(value)) !== true) return undefined
    return new Missing('unsupported', `${told}, which means that the driver does not know it`)
  }
  if (value > most) return new Missing('failed', `${told}, which is impossible: ${words} is at most ${written(most)}`)
  const why = `${told}, which is impossible: ${words} is at least ${written(least)}`
  return below === undefined ? new Missing('failed', why) : new Missing('unsupported', `${why}; ${below}`)
}
