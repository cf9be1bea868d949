import {
  absenceType,
  type Batch,
  countDrop,
  type Labels,
  labelOf,
  readRecords,
  type Sink,
  sinkStats,
  viewsOf,
} from '@sonde/sdk'
import { acceptBatch } from '../pipeline/accept-batch.ts'
import type { Device } from './device.ts'
import { draftsOf } from './drafts.ts'
import { Facts } from './facts.ts'
import { placed } from './placed.ts'
import { isSimulatedOf, worldsOf } from './world.ts'

/** Options of {@link Devices}. */
export interface DevicesOptions {
  /** A device without a record for this long has left. Unit: seconds. Default: 300. */
  readonly expiryS?: number
  /**
   * Series of one type at most; beyond it those that have left make room, then records are dropped as `device_limit`.
   * Default: 4 096.
   */
  readonly seriesLimit?: number
  /**
   * The clock by which devices leave. Unit: milliseconds. Default: the monotonic one, so that no step of the wall clock
   * takes every device out.
   */
  readonly now?: () => number
}

const EXPIRY_S = 300
const SERIES_LIMIT = 4096
/** How long what left is still listed. */
const KEEP_MS = 3_600_000
/** How often it is looked for what has left without a word. */
const SWEEP_EVERY_MS = 1000

/**
 * What the node has, by the records that identify it. A sink that keeps the last record of each series of a few types,
 * and makes the list of devices of them when it is asked for and something changed.
 */
export class Devices implements Sink {
  readonly name = 'devices'
  readonly stats = sinkStats()
  readonly #facts: Facts
  readonly #expiryMs: number
  readonly #now: () => number
  /** What makes a time of that clock one since the Unix epoch. Unit: milliseconds. */
  readonly #epochMs: () => number
  #made: Made = { version: -1, devices: [], byId: new Map(), byLabels: new Map() }
  #sweptMs = Number.NEGATIVE_INFINITY
  #closed = false

  constructor(options: DevicesOptions = {}) {
    this.#facts = new Facts(options.seriesLimit ?? SERIES_LIMIT)
    this.#expiryMs = (options.expiryS ?? EXPIRY_S) * 1000
    this.#now = options.now ?? (() => performance.now())
    this.#epochMs = () => (options.now === undefined ? Date.now() - performance.now() : 0)
  }

  /** Changes whenever a device does, or a series may belong to another one than before. */
  get version(): number {
    return this.#current().version
  }

  accept(batch: Batch): void {
    acceptBatch(this.stats, batch, this.#closed ? undefined : (batch) => this.#take(batch))
  }

  async flush(): Promise<void> {
    // What was accepted is in the next answer: there is nothing to wait for.
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#facts.clear()
  }

  /**
   * All devices: those that are there, and those that left within the hour. GPUs, NICs, interfaces, PCI devices; real
   * ones first.
   */
  list(): readonly Device[] {
    return this.#current().devices
  }

  /** A device by its id. */
  byId(id: string): Device | undefined {
    return this.#current().byId.get(id)
  }

  /**
   * The device that a series belongs to. Series of PCI belong to the GPU, NIC or interface at their address, those of
   * an interface to the NIC that has it. `undefined` where no device is known.
   */
  deviceOf(type: string, labels: Labels): Device | undefined {
    const key = keyOf(type, labels)
    return key === undefined ? undefined : this.#current().byLabels.get(key)
  }

  /**
   * Other devices of the same kind and node that do the same work: all GPUs, or the NICs that are in a rail as well.
   * Only those that are there.
   */
  siblings(device: Device): Device[] {
    return this.list().filter(
      (other) =>
        other.id !== device.id &&
        other.kind === device.kind &&
        other.isSimulated === device.isSimulated &&
        other.goneMs === undefined &&
        (other.rail === null) === (device.rail === null),
    )
  }

  #take(batch: Batch): number {
    // What an application reports is its own; what the node has is seen by the agent alone.
    if (batch.origin === 'client') return 0
    const nowMs = this.#now()
    const refused = this.#facts.take(batch, nowMs)
    if (batch.type.fingerprint === absenceType.fingerprint) this.#takeAbsences(batch, nowMs)
    countDrop(this.stats, 'device_limit', refused)
    return refused
  }

  #takeAbsences({ bytes, count, symbols }: Batch, nowMs: number): void {
    for (const { type, series, field, code, reason } of readRecords(absenceType, viewsOf(bytes), count, symbols)) {
      if (code === 'gone' && field === '') this.#facts.leave(type, series, reason, nowMs)
    }
  }

  #current(): Made {
    const nowMs = this.#now()
    if (nowMs - this.#sweptMs >= SWEEP_EVERY_MS) {
      this.#sweptMs = nowMs
      this.#facts.expire(nowMs, this.#expiryMs, KEEP_MS)
    }
    if (this.#made.version !== this.#facts.version) this.#made = make(this.#facts, this.#epochMs())
    return this.#made
  }
}

interface Made {
  readonly version: number
  readonly devices: readonly Device[]
  readonly byId: ReadonlyMap<string, Device>
  readonly byLabels: ReadonlyMap<string, Device>
}

/** @param epochMs See `Devices.#epochMs`: people read when a device left. */
function make(facts: Facts, epochMs: number): Made {
  const devices = worldsOf(facts.all())
    .flatMap((world) => placed(draftsOf(world)))
    .map((device) => (device.goneMs === undefined ? device : { ...device, goneMs: device.goneMs + epochMs }))
  const byLabels = new Map<string, Device>()
  // GPUs and NICs come first in the list: what they have at their address or as their interface is theirs.
  const present = [...devices.filter(({ goneMs }) => goneMs === undefined), ...devices]
  for (const device of present) {
    for (const key of keysOf(device)) if (!byLabels.has(key)) byLabels.set(key, device)
  }
  return { version: facts.version, devices, byId: new Map(devices.map((device) => [device.id, device])), byLabels }
}

/** What a series is looked up with: the world, the family of its type, and the label that names its device. */
function keyOf(type: string, labels: Labels): string | undefined {
  const family = FAMILIES.find(([begins]) => type.startsWith(begins))
  if (family === undefined) return undefined
  const [, name, label] = family
  const port = name === 'rdma' && labelOf(labels, 'port') !== '' ? `\n${labelOf(labels, 'port')}` : ''
  return `${isSimulatedOf(labels)}\n${name}\n${labelOf(labels, label)}${port}`
}

/** Libraries of an adapter know it by the name of its RDMA device, some without a port. */
const FAMILIES: readonly (readonly [begins: string, family: string, label: string])[] = [
  ['nvml_', 'gpu', 'gpu'],
  ['rdma_', 'rdma', 'device'],
  ['doca_', 'rdma', 'device'],
  ['netdev', 'net', 'device'],
  ['ethtool_', 'net', 'device'],
  ['pci_', 'pci', 'device'],
]

function keysOf({ kind, isSimulated, labels, netdevs, address }: Device): string[] {
  const key = (family: string, ...names: string[]) => [isSimulated, family, ...names].join('\n')
  const keys: string[] = []
  const gpu = labelOf(labels, 'gpu')
  if (kind === 'gpu' && gpu !== '') keys.push(key('gpu', gpu))
  if (kind === 'nic') {
    const device = labelOf(labels, 'device')
    keys.push(key('rdma', device, labelOf(labels, 'port')), key('rdma', device))
  }
  for (const netdev of netdevs) keys.push(key('net', netdev))
  if (address !== '') keys.push(key('pci', address))
  return keys
}
