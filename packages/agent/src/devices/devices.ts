import { hostname } from 'node:os'
import {
  absenceType,
  type Batch,
  countDrop,
  entityOf,
  type Labels,
  type RecordType,
  readRecords,
  type Sink,
  type SourceInfo,
  sinkStats,
  viewsOf,
} from '@sonde/sdk'
import { acceptBatch } from '../pipeline/accept-batch.ts'
import { namedHost } from './claims.ts'
import type { Device } from './device.ts'
import { roomOfClients, roomOfTypes } from './fact-room.ts'
import { type Fact, Facts } from './facts.ts'
import { draftsOf } from './kinds/index.ts'
import { placed } from './placed.ts'
import { Places } from './places.ts'
import { related } from './relations.ts'
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
   * Series of all applications together at most, and names of other entities in them; one application has an eighth
   * where they contend. Beyond it those that have left make room, then records are dropped as `device_limit`. Default:
   * 4 096.
   */
  readonly clientLimit?: number
  /** Name of the host that the agent runs on. Default: what the system calls it. */
  readonly host?: string
  /**
   * The clock by which devices leave. Unit: milliseconds. Default: the monotonic one, so that no step of the wall clock
   * takes every device out.
   */
  readonly now?: () => number
}

const EXPIRY_S = 300
const SERIES_LIMIT = 4096
const CLIENT_LIMIT = 4096
/** How long what left is still listed. */
const KEEP_MS = 3_600_000
/** How often it is looked for what has left without a word. */
const SWEEP_EVERY_MS = 1000

/**
 * What the node has, by the records that define it. A sink that keeps what the last record of each series says of
 * entities, and makes the list of devices of it when it is asked for and something changed. What applications say, and
 * what was read from where it is kept, stands apart: it changes nothing of the hardware, and costs nobody time who does
 * not ask for it.
 */
export class Devices implements Sink {
  readonly name = 'devices'
  readonly stats = sinkStats()
  readonly #own: Facts
  /** What sources of this agent did not make. */
  readonly #foreign: Facts
  readonly #host: string
  readonly #expiryMs: number
  readonly #now: () => number
  /** What makes a time of that clock one since the Unix epoch: people read when a device left. Unit: milliseconds. */
  readonly #epochMs: () => number
  #hardware: Known = known(-1, [])
  /** With what applications say, and with relations. */
  #all: Known = known(-1, [])
  #foreignVersion = -1
  /** Whether `#all` may change without a new version, and when it was made, as `#sweptMs`. */
  #isWaiting = false
  #madeMs = 0
  #sweptMs = Number.NEGATIVE_INFINITY
  #closed = false

  constructor(options: DevicesOptions = {}) {
    this.#own = new Facts(roomOfTypes(options.seriesLimit ?? SERIES_LIMIT))
    this.#host = options.host ?? hostname()
    this.#foreign = new Facts(roomOfClients(options.clientLimit ?? CLIENT_LIMIT))
    this.#expiryMs = (options.expiryS ?? EXPIRY_S) * 1000
    this.#now = options.now ?? (() => performance.now())
    this.#epochMs = () => (options.now === undefined ? Date.now() - performance.now() : 0)
  }

  /** Changes whenever a device does that the agent itself knows of, or a series may belong to another than before. */
  get version(): number {
    return this.#ownDevices().version
  }

  /** Series that are kept, those that left among them: what its memory goes by. */
  get seriesCount(): number {
    return this.#own.count + this.#foreign.count
  }

  accept(batch: Batch): void {
    acceptBatch(this.stats, batch, this.#closed ? undefined : (batch) => this.#take(batch))
  }

  async flush(): Promise<void> {
    // What was accepted is in the next answer: there is nothing to wait for.
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#own.clear()
    this.#foreign.clear()
  }

  /** An application ended: what it said last left with it. */
  retire(source: SourceInfo): void {
    this.#foreign.retire(source, 'the application that reported it has ended', this.#now())
  }

  /**
   * All devices: those that are there, and those that left within the hour. GPUs, NICs, interfaces, PCI devices, then
   * what else types tell of; real ones first, those of applications last.
   */
  list(): readonly Device[] {
    return this.#everything().devices
  }

  /** Those of {@link list} of which the agent's own sources tell, without their relations. */
  own(): readonly Device[] {
    return this.#ownDevices().devices
  }

  /** What sources of the agent say, each with its source. */
  facts(): Iterable<Fact> {
    return this.#own.all()
  }

  /** A device by its id. */
  byId(id: string): Device | undefined {
    return this.#everything().byId.get(id)
  }

  /**
   * The device that a series of the agent's own is about. Series of PCI belong to the GPU, NIC or interface at their
   * address, those of an interface to the NIC that has it. `undefined` if no device is known.
   */
  deviceOf(type: Pick<RecordType, 'entity'>, labels: Labels): Device | undefined {
    const about = entityOf(type, labels)
    const node = { host: namedHost(type, labels) || this.#host, isSimulated: isSimulatedOf(labels) }
    return about === undefined ? undefined : this.#ownDevices().places.at(about, node)
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
        other.host === device.host &&
        other.goneMs === undefined &&
        (other.rail === null) === (device.rail === null),
    )
  }

  #take(batch: Batch): number {
    const nowMs = this.#now()
    const facts = batch.origin === 'own' ? this.#own : this.#foreign
    const refused = facts.take(batch, nowMs)
    if (facts.count > 0 && batch.type.fingerprint === absenceType.fingerprint) this.#takeAbsences(facts, batch, nowMs)
    countDrop(this.stats, 'device_limit', refused)
    return refused
  }

  /** Each application speaks for its own series alone. */
  #takeAbsences(facts: Facts, batch: Batch, nowMs: number): void {
    const { bytes, count, symbols } = batch
    for (const { type, series, field, code, reason } of readRecords(absenceType, viewsOf(bytes), count, symbols)) {
      if (code === 'gone' && field === '') facts.leave(batch, type, series, reason, nowMs)
    }
  }

  #ownDevices(): Known {
    this.#sweep()
    if (this.#hardware.version !== this.#own.version)
      this.#hardware = known(this.#own.version, this.#devicesOf(this.#own))
    return this.#hardware
  }

  #everything(): Known {
    const own = this.#ownDevices()
    const isOld = this.#isWaiting && this.#madeMs !== this.#sweptMs
    if (!isOld && this.#all.version === own.version && this.#foreignVersion === this.#foreign.version) return this.#all
    this.#madeMs = this.#sweptMs
    this.#foreignVersion = this.#foreign.version
    const others = this.#devicesOf(this.#foreign).filter(({ id }) => !own.byId.has(id))
    const facts = [...this.#own.all(), ...this.#foreign.all()]
    const { devices, isWaiting } = related(
      others.length === 0 ? own.devices : [...own.devices, ...others],
      facts,
      this.#host,
    )
    this.#isWaiting = isWaiting
    this.#all = devices === own.devices ? own : known(own.version, devices)
    return this.#all
  }

  #devicesOf(facts: Facts): Device[] {
    const epochMs = this.#epochMs()
    return worldsOf(facts.all(), this.#host)
      .flatMap((world) => placed(draftsOf(world)))
      .map((device) => {
        const goneMs = device.goneMs === undefined ? undefined : device.goneMs + epochMs
        return { ...device, goneMs, relations: [] }
      })
  }

  #sweep(): void {
    const nowMs = this.#now()
    if (nowMs - this.#sweptMs < SWEEP_EVERY_MS) return
    this.#sweptMs = nowMs
    for (const facts of [this.#own, this.#foreign]) facts.expire(nowMs, this.#expiryMs, KEEP_MS)
  }
}

/** What is known of the facts of one version. */
interface Known {
  readonly version: number
  readonly devices: readonly Device[]
  readonly byId: ReadonlyMap<string, Device>
  readonly places: Places<Device>
}

function known(version: number, devices: readonly Device[]): Known {
  return { version, devices, byId: new Map(devices.map((device) => [device.id, device])), places: new Places(devices) }
}
