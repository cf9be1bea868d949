import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  closeSync,
  copyFileSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { HEALTHY, type ImageName, type Images } from './images.ts'
import { fieldAt, structureBytes } from './structure.ts'
import type { Wave } from './wave.ts'

/** A number of a device that has a default; README.md says what each means. */
export type DoubleFact =
  | 'active_rate_mbps'
  | 'offset_ns'
  | 'drift_ppb'
  | 'frc_hz'
  | 'burst_every_us'
  | 'burst_us'
  | 'diag'
  | 'max_ids'
  | 'log_max_samples'
  | 'data_clear'
  | 'sync_start'
  | 'sample_modes'
  | 'timestamp_sources'
  | 'min_period_ns'
  | 'owned'
  | 'resources'
  | 'listed_only'
  | 'any_id'
  | 'stride'
  | 'first_sample_id'
  | 'adp_retx'
  | 'histogram'
  | 'max_bins'
  | 'time_units'
  | 'vhca_id'
  | 'phy'
  | 'phy_operation'
  | 'phy_module'
  | 'phy_counters'
  | 'cable'
  | 'pci_management'
  | 'pci_power'
  | 'pci_peer'
  | 'pci_counters'
  | 'pci_overflow'
  | 'pci_stalled'
  | 'pci_fec'
  | 'pci_fber'
  | 'pci_buckets'
  | 'pci_bucket_ns'
  | 'pci_depth'
  | 'pci_index'
  | 'pci_node'
  | 'pcc'
  | 'pcc_slots'
  | 'dpa'
  | 'dpa_timer_khz'
  | 'dpa_needs_process'
  | 'dpa_list_bytes'
  | 'drain_us'
  | 'on_demand_us'
  | 'needs_all_set'
  | 'needs_zero_on_demand'
  | 'size_before_start'

/** A congestion-control algorithm of the double. */
export interface DoubleAlgorithm {
  readonly slot: number
  readonly id?: number
  readonly version?: readonly [major: number, minor: number]
  /** Default: both. */
  readonly enabled?: readonly [algorithm: boolean, counters: boolean]
  readonly description?: string
  /** Start and increase per second of each counter, by its name. */
  readonly counters?: readonly (readonly [name: string, start: number, rate: number])[]
}

/** A thread on the accelerator of the double: what it uses in each second. */
export interface DoubleThread {
  readonly id: number
  readonly name?: string
  readonly ticks?: number
  readonly cycles?: number
  readonly instructions?: number
  readonly executions?: number
}

/** A process on the accelerator of the double. */
export interface DoubleProcess {
  readonly id: number
  readonly name?: string
  readonly threads?: readonly DoubleThread[]
}

/** The answers of the double for one device. */
export interface DoubleDevice {
  /** Default: an address of its own. */
  readonly pci?: string
  /** Without it the device has no network interface. */
  readonly iface?: string
  /** As `aa:bb:cc:dd:ee:ff`. Without it the port is an InfiniBand port. */
  readonly mac?: string
  readonly facts?: Readonly<Partial<Record<DoubleFact, number | bigint>>>
  /** Waves of data IDs; {@link waveOf} says those of all others. */
  readonly waves?: readonly Wave[]
  /** Events per second of each bin of the histogram of timeouts. */
  readonly bins?: readonly number[]
  /** What somebody else configures the histogram to, once for each serial. */
  readonly changed?: readonly [serial: number, bins: number, bin0: number, bin1: number, mode: number, unit: number]
  /** Fields of structures, each in place of its value in {@link HEALTHY}. */
  readonly structures?: Images
  /** Counters of structures that grow: by how much in a second. */
  readonly grows?: Readonly<Partial<Record<ImageName, Readonly<Record<string, number>>>>>
  readonly algorithms?: readonly DoubleAlgorithm[]
  readonly processes?: readonly DoubleProcess[]
  /** Faults of this device alone, such as `hang doca_dev_open`; README.md lists them. */
  readonly faults?: readonly string[]
}

/** What {@link DocaDouble} is built with. */
export interface DoubleOptions {
  /** Functions that the libraries are without, as older versions are. */
  readonly without?: readonly string[]
}

/** Counts of the libraries in one process: `calls`, `opens`, `mlx5_0 produced`; README.md lists the names. */
export type DoubleStats = ReadonlyMap<string, number>

const COUNTER_BYTES = 64
const NAME_BYTES = 56
const GROWTH_BYTES = 8

const SOURCES = {
  'libdoca_common.so.2': ['common.c'],
  'libdoca_telemetry.so.2': [
    'adp-retx.c',
    'diag.c',
    'bluefield3.c',
    'ownership.c',
    'sampling.c',
    'phy.c',
    'pci.c',
    'pcc.c',
    'dpa.c',
    'layout.c',
    'telemetry.c',
  ],
}
const SHARED = ['double.c', 'scenario.c']
const FLAGS = [
  '-std=gnu11',
  '-Wall',
  '-Wextra',
  '-Werror',
  '-O2',
  '-fvisibility=hidden',
  '-shared',
  '-fPIC',
  '-pthread',
]

/** The libraries of DOCA Telemetry, in a folder of a test's own. Their answers may change at any time. */
export class DocaDouble {
  /** Where both libraries are. */
  readonly folder: string
  readonly #wallNs = BigInt(nextMillisecond()) * 1_000_000n
  readonly #clockNs = process.hrtime.bigint()
  readonly #generations = new Map<string, number>()
  readonly #control: number
  #devices = new Set<string>()
  #serial = 0n

  /** When the test ends its scenario goes, and with it whatever hangs. Needs `cc`. */
  constructor(test: { after(end: () => void): void }, options: DoubleOptions = {}) {
    this.folder = mkdtempSync(join(tmpdir(), 'sonde-double-'))
    const built = build(options.without ?? [])
    for (const name of Object.keys(SOURCES)) copyFileSync(join(built, name), join(this.folder, name))
    writeFileSync(join(this.folder, 'control'), new Uint8Array(16))
    this.#control = openSync(join(this.folder, 'control'), 'r+')
    test.after(() => {
      closeSync(this.#control)
      // A child of a killed agent may still write while its folder is removed.
      rmSync(this.folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 })
    })
    this.play({})
  }

  /** The library of devices. */
  get common(): string {
    return join(this.folder, 'libdoca_common.so.2')
  }

  /** The library of counters. */
  get telemetry(): string {
    return join(this.folder, 'libdoca_telemetry.so.2')
  }

  /** The clock of the devices, and of their counters, starts here. Nanoseconds of the host's clocks. */
  get anchor(): { readonly monotonicNs: bigint; readonly wallNs: bigint } {
    return { monotonicNs: this.#clockNs, wallNs: this.#wallNs }
  }

  /** What it answers from now on. A device that is left out is gone, and is another device when it returns. */
  play(devices: Readonly<Record<string, DoubleDevice>>, faults: readonly string[] = []): void {
    const lines = [`clock ${this.#clockNs} ${this.#wallNs}`, ...faults]
    Object.entries(devices).forEach(([name, device], at) => {
      if (!this.#devices.has(name)) this.#generations.set(name, (this.#generations.get(name) ?? 0) + 1)
      const pci = device.pci ?? `0000:${(at + 16).toString(16)}:00.0`
      lines.push(`device ${name} ${pci} ${device.iface ?? '-'} ${device.mac ?? '-'} ${this.#generations.get(name)}`)
      lines.push(...linesOf(device))
    })
    this.#devices = new Set(Object.keys(devices))
    // Renamed into place: a library may read at this moment. It reads again when the serial differs.
    writeFileSync(join(this.folder, 'next'), `${lines.join('\n')}\n`)
    renameSync(join(this.folder, 'next'), join(this.folder, 'scenario'))
    this.#serial++
    this.#writeControl(8, this.#serial)
  }

  /** Stands all clocks still, this long after the anchor; `undefined` lets them run. Nanoseconds. */
  setElapsed(elapsedNs: bigint | undefined): void {
    this.#writeControl(0, elapsedNs === undefined ? 0n : this.#clockNs + elapsedNs)
  }

  /** What each process counted, by its id. Those that ended are among them. */
  stats(): Map<number, DoubleStats> {
    const files = globSync('stats-*', { cwd: this.folder })
    return new Map(files.map((file) => [Number(file.slice(6)), statsOf(readFileSync(join(this.folder, file)))]))
  }

  /** The sum of a count over all processes; 0 if no process has it. */
  total(name: string): number {
    return this.stats()
      .values()
      .reduce((sum, stats) => sum + (stats.get(name) ?? 0), 0)
  }

  #writeControl(at: number, value: bigint): void {
    writeSync(this.#control, new Uint8Array(BigUint64Array.of(value).buffer), 0, 8, at)
  }
}

function linesOf({ facts = {}, waves = [], bins, changed, faults = [], ...more }: DoubleDevice): string[] {
  const lines = Object.entries(facts).map(([name, value]) => `${name} ${value}`)
  for (const { id, start, step, extra, kind } of waves) {
    lines.push(`id 0x${id.toString(16)} ${start} ${step} ${extra} ${kind}`)
  }
  if (bins !== undefined) lines.push(`bins ${bins.join(' ')}`)
  if (changed !== undefined) lines.push(`changed ${changed.join(' ')}`)
  const { algorithms = [], processes = [] } = more
  return [
    ...lines,
    ...imageLinesOf(more),
    ...algorithms.flatMap(algorithmLines),
    ...processes.flatMap(processLines),
    ...faults,
  ]
}

function algorithmLines({
  slot,
  id = 1,
  version = [1, 0],
  enabled = [true, true],
  description = '',
  counters = [],
}: DoubleAlgorithm): string[] {
  const flags = enabled.map(Number).join(' ')
  return [
    `algorithm ${slot} ${id} ${version.join(' ')} ${flags} ${description}`,
    ...counters.map(([name, start, rate]) => `counts ${start} ${rate} ${name}`),
  ]
}

function processLines({ id, name = '', threads = [] }: DoubleProcess): string[] {
  const lines = threads.map(({ id: thread, name: own = '', ticks = 0, cycles = 0, instructions = 0, executions = 0 }) =>
    ['thread', id, thread, ticks, cycles, instructions, executions, own].join(' '),
  )
  return [`process ${id} ${name}`, ...lines]
}

function imageLinesOf({ structures = {}, grows = {} }: Pick<DoubleDevice, 'structures' | 'grows'>): string[] {
  const names = Object.keys(HEALTHY) as ImageName[]
  return names.flatMap((name) => {
    const image = structureBytes(name, { ...HEALTHY[name], ...structures[name] })
    const rates = Object.entries(grows[name] ?? {}).map(([path, rate]) => {
      const { at, bytes } = fieldAt(name, path)
      // Of lanes, the first grows.
      return `grows ${name} ${at} ${Math.min(bytes, GROWTH_BYTES)} ${rate}`
    })
    return [`image ${name} ${Buffer.from(image).toString('hex')}`, ...rates]
  })
}

function statsOf(bytes: Buffer): DoubleStats {
  const stats = new Map<string, number>()
  for (let at = 0; at + COUNTER_BYTES <= bytes.length && bytes[at] !== 0; at += COUNTER_BYTES) {
    const name = bytes.toString('latin1', at, at + NAME_BYTES).replace(/\0.*/s, '')
    stats.set(name, Number(bytes.readBigUInt64LE(at + NAME_BYTES)))
  }
  return stats
}

/** The wall clock where it changes, since it tells no less than a millisecond. */
function nextMillisecond(): number {
  const before = Date.now()
  let now = before
  while (now === before) now = Date.now()
  return now
}

/** What was compiled for one process of tests serves all that come later; git ignores it. */
const BUILDS = join(import.meta.dirname, '../../../.cache/doubles')

/** A folder with the libraries, compiled once for each list of missing functions and state of the sources. */
function build(without: readonly string[]): string {
  const sources = globSync('*.{c,h}', { cwd: import.meta.dirname }).sort()
  const hash = createHash('sha256').update(JSON.stringify([FLAGS, without, SOURCES, SHARED]))
  for (const name of sources) hash.update(`${name}\0`).update(readFileSync(join(import.meta.dirname, name)))
  const folder = join(BUILDS, hash.digest('hex'))
  if (!existsSync(folder)) compile(folder, without)
  return folder
}

/** Compiled beside its place and moved there whole: another process may compile the same at this moment. */
function compile(folder: string, without: readonly string[]): void {
  mkdirSync(BUILDS, { recursive: true })
  const made = mkdtempSync(join(BUILDS, 'new-'))
  try {
    const hidden = without.map((name) => `${name};`).join(' ')
    writeFileSync(join(made, 'symbols'), `{ global: *; ${hidden && `local: ${hidden}`} };\n`)
    for (const [name, files] of Object.entries(SOURCES)) {
      const paths = [...SHARED, ...files].map((file) => join(import.meta.dirname, file))
      const linker = [`-Wl,-soname,${name}`, `-Wl,--version-script,${join(made, 'symbols')}`]
      execFileSync('cc', [...FLAGS, ...linker, '-o', join(made, name), ...paths])
    }
    renameSync(made, folder)
  } catch (error) {
    rmSync(made, { recursive: true, force: true })
    if (!existsSync(folder)) throw error
  }
}
