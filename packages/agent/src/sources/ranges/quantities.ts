import { Lack } from '../field-absences.ts'

/** What the values of a physical quantity can be. */
export interface Quantity {
  /** The quantity in a sentence: `a percentage`. */
  readonly words: string
  /** Unit as people write it behind a number; empty if there is none. */
  readonly unit: string
  readonly least: number
  readonly most: number
  /** Values between both that drivers report where they do not know. Default: none. */
  readonly unknown?: readonly number[]
  /** Why a value below the least is reported. Default: nobody knows. */
  readonly below?: string
}

const GIGA = 1e9
const MEBIBYTE = 2 ** 20
const U32_MAX = 2 ** 32 - 1
const BYTES_PER_MEGABIT = 125_000
const NOT_SET = 'nobody has set it'

/**
 * The one table of what a physical quantity can be. A bound is far beyond the best hardware that is known, and below
 * the values by which registers and drivers mean "not known": a value outside is no measurement. Each bound says where
 * it is from.
 */
export const QUANTITIES = {
  /** What 64 bits hold. */
  count: { words: 'a count', unit: '', least: 0, most: 2 ** 64 },
  /** By definition. */
  percent: { words: 'a percentage', unit: '%', least: 0, most: 100 },
  /** By definition; DCGM divides two counters that it reads one after the other, and so gives 1.0002 of a busy unit. */
  ratio: { words: 'a ratio', unit: '', least: 0, most: 1.05 },
  /** A bit error rate: errors among all bits. */
  errorRate: { words: 'an error rate', unit: '', least: 0, most: 1 },
  /** Processor time per time of the clock: 1 for each core, and no kernel knows more cores. */
  cores: { words: 'a share of processors', unit: '', least: 0, most: 8192 },
  /** Parts for industry work from −40 °C, those of the military from −55 °C; silicon fails beyond 175 °C. */
  temperature: { words: 'a temperature of hardware', unit: '°C', least: -55, most: 200 },
  /** Drivers leave 0, or the bottom of the range of the sensor, in limits that nobody set. */
  temperatureLimit: { words: 'a limit of a temperature', unit: '°C', least: 1, most: 200, below: NOT_SET },
  /** NVML has no negative temperatures; the largest threshold of a GPU is 105 °C. */
  gpuTemperature: { words: 'the temperature of a GPU', unit: '°C', least: -40, most: 150 },
  /** NVML and DCGM give 0 for memory without a sensor; HBM in use is warmer. */
  gpuMemoryTemperature: {
    ...{ words: 'the temperature of memory with a sensor', unit: '°C', least: 1, most: 150 },
    below: 'a GPU without that sensor reports 0',
  },
  /** The largest modules that were announced draw 3.6 kW. */
  gpuPower: { words: 'the power of a GPU', unit: 'W', least: 0, most: 10_000 },
  gpuPowerLimit: { words: 'a power limit of a GPU', unit: 'W', least: 0.001, most: 10_000, below: NOT_SET },
  /** Meters count in microwatts: a rack of 600 kW is the largest that was announced. The value is 32 bits of ones. */
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
  /** The fastest fans of 40 mm turn 40 000 times a minute; 65 535 are 16 bits of ones. */
  fanSpeed: { words: 'the speed of a fan', unit: 'rpm', least: 0, most: 60_000 },
  /** Memory of GPUs has the highest effective clocks, 18 GHz today; processors end below 10 GHz. */
  megahertz: { words: 'a clock', unit: 'MHz', least: 0, most: 50_000 },
  hertz: { words: 'a clock that runs', unit: 'Hz', least: 1, most: 50 * GIGA },
  /** Physical addresses have 52 bits on x86-64, and 56 on Arm from version 9.4 on. */
  memory: { words: 'a size of memory', unit: 'bytes', least: 0, most: 2 ** 56 },
  /** What was promised is no memory yet: each process may ask for 2^57 bytes. The kernel prints −1 kB as 2^64 − 1. */
  promisedMemory: { words: 'promised memory', unit: 'bytes', least: 0, most: 2 ** 63 },
  /** A GPU has 288 GB today, a superchip with all that it can reach 1 TB. */
  gpuMemory: { words: 'the memory of a GPU', unit: 'MiB', least: 0, most: 2 ** 24 },
  gpuMemoryBytes: { words: 'the memory of a GPU', unit: 'bytes', least: 0, most: 2 ** 44 },
  /** A packet: InfiniBand and loopback have 65 535 and 65 536 bytes, and some tunnels 2^31 − 1. */
  packet: { words: 'a size of a packet', unit: 'bytes', least: 0, most: 2 ** 31 },
  /** Links reach 1.6 Tb/s, PCIe 7.0 with 16 lanes 2 Tb/s. 65 535 Mb/s, and 32 bits of ones, are ethtool's "unknown". */
  linkSpeed: {
    ...{ words: 'the speed of a link', unit: 'bytes/s', least: 1, most: 1000 * GIGA },
    unknown: [65_535 * BYTES_PER_MEGABIT, U32_MAX * BYTES_PER_MEGABIT],
  },
  /** All NVLink links of a GPU: 1.8 TB/s each way are the most that were announced. */
  nvlinkSpeed: { words: 'the speed of NVLink', unit: 'bytes/s', least: 0, most: 10_000 * GIGA },
  nvlinkMebibytes: { words: 'the throughput of NVLink', unit: 'MiB/s', least: 0, most: (20_000 * GIGA) / MEBIBYTE },
  /** PCIe 7.0 with 16 lanes; a GPU whose link is known has the bound of that beside it. */
  pcieThroughput: { words: 'the throughput of PCIe', unit: 'bytes/s', least: 0, most: 300 * GIGA },
  /** PCIe doubles with each generation, from 2.5 GT/s; 128 GT/s is the seventh. */
  transferRate: { words: 'a transfer rate of PCIe', unit: 'transfers/s', least: 2.5e9, most: 256e9 },
  pcieGeneration: { words: 'a generation of PCIe', unit: '', least: 1, most: 8 },
  /** PCIe has 32 lanes at most, InfiniBand 12, Ethernet 8 of the modes that Linux lists. */
  lanes: { words: 'a number of lanes', unit: '', least: 1, most: 32 },
  /** Optics of 3.3 V; a supply of a rack has 54 V. */
  volts: { words: 'a supply voltage', unit: 'V', least: 0, most: 60 },
  /** Lasers of modules are biased with less than 200 mA. */
  amperes: { words: 'a bias current', unit: 'A', least: 0, most: 1 },
  /** A module counts light in 0.1 µW with 16 bits, −40 dBm to 8.2 dBm, and gives −40 without any. */
  opticalPower: { words: 'an optical power', unit: 'dBm', least: -60, most: 20 },
  noise: { words: 'a ratio of signal and noise', unit: 'dB', least: -20, most: 100 },
  /** Durations, and times until the year 2286. */
  seconds: { words: 'a time', unit: 's', least: 0, most: 1e10 },
  /** Linux is built for 1 024 NUMA nodes at most. */
  numaNode: { words: 'the number of a NUMA node', unit: '', least: 0, most: 1023 },
  /** The kernel gives −1 where the firmware does not say; APIC ids have 32 bits, and no machine has as many sockets. */
  package: { words: 'the number of a package', unit: '', least: 0, most: 65_534, below: 'the kernel does not know it' },
  /** NVML gives 32 for a performance state that it does not know. */
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
 * Why a number is no value of a quantity; undefined if it can be one. What drivers say instead of a value is
 * `unsupported`, any other is `failed`.
 */
export function impossible(quantity: Quantity, value: number | bigint): Lack | undefined {
  const { words, unit, least, most, unknown, below } = quantity
  const written = (number: number | bigint) => (unit === '' ? `${number}` : `${number} ${unit}`)
  const told = `${written(value)} was reported`
  if (value >= least && value <= most) {
    if (unknown?.includes(Number(value)) !== true) return undefined
    return new Lack('unsupported', `${told}, which means that the driver does not know it`)
  }
  if (value > most) return new Lack('failed', `${told}, which is impossible: ${words} is at most ${written(most)}`)
  const why = `${told}, which is impossible: ${words} is at least ${written(least)}`
  return below === undefined ? new Lack('failed', why) : new Lack('unsupported', `${why}; ${below}`)
}
