import { hostname } from 'node:os'
import {
  type Batch,
  countDrop,
  type Labels,
  type RecordType,
  readRecords,
  type Sink,
  type SourceInfo,
  sinkStats,
  viewsOf,
} from '@sonde/sdk'
import { absenceType, entityOf } from '@sonde/sdk/internal'
import { acceptBatch } from '../pipeline/accept-batch.ts'
import { namedHost } from './claims.ts'
import type { Device } from './device.ts'
import { EntityIndex } from './entity-index.ts'
import { clientBudget, typeBudget } from './fact-budget.ts'
import { type EntityFact, EntityFacts } from './facts.ts'
import { worldDrafts } from './kinds/index.ts'
import { placed } from './placed.ts'
import { withRelations } from './relations.ts'
import { isSimulatedSeries, sortIntoWorlds } from './world.ts'

/** Options of {@link Devices}. */
export interface DevicesOptions {
  /** A device without a record for this long has left. Unit: seconds. Default: 300. */
  readonly expiryS?: number
  /**
   * Most series of one type. Beyond it, new series replace those that left; otherwise their records are dropped as
   * `device_limit`. Default: 4 096.
   */
  readonly seriesLimit?: number
  /**
   * Most series of all applications together, plus the names of other entities in them. One application gets an eighth
   * if applications compete. Beyond it, new series replace those that left; otherwise their records are dropped as
   * `device_limit`. Default: 4 096.
   */
  readonly clientLimit?: number
  /** Name of the agent's host. Default: the system's host name. */
  readonly host?: string
  /**
   * The clock that decides when devices leave. Unit: milliseconds. Default: the monotonic clock, because a step of the
   * wall clock would make every device leave.
   */
  readonly now?: () => number
}

const EXPIRY_S = 300
const SERIES_LIMIT = 4096
const CLIENT_LIMIT = 4096
/** How long a device stays listed after it left. */
const KEEP_MS = 3_600_000
/** How often devices without recent records are searched. */
const SWEEP_EVERY_MS = 1000

/**
 * The list of devices of the node. This sink keeps the newest identifying values of each series. It builds the list of
 * devices when a caller asks for it and a value has changed.
 * Facts from applications and from stored records are kept apart: they never change the hardware, and cost nothing
 * until a caller asks for the full list.
 */
export class Devices implements Sink {
  readonly name = 'devices'
  readonly stats = sinkStats()
  readonly #own: EntityFacts
  /** Facts that no source of this agent reported. */
  readonly #foreign: EntityFacts
  readonly #host: string
  readonly #expiryMs: number
  readonly #now: () => number
  /** Offset from that clock to the Unix epoch, because people read when a device left. Unit: milliseconds. */
  readonly #epochMs: () => number
  #hardware: Known = known(-1, [])
  /** The hardware, the entities of applications, and relations. */
  #all: Known = known(-1, [])
  #foreignVersion = -1
  /** Whether `#all` may change without a new version; `#madeMs` is the sweep before it was built. */
  #isWaiting = false
  #madeMs = 0
  #sweptMs = Number.NEGATIVE_INFINITY
  #closed = false

  constructor(options: DevicesOptions = {}) {
    this.#own = new EntityFacts(typeBudget(options.seriesLimit ?? SERIES_LIMIT))
    this.#host = options.host ?? hostname()
    this.#foreign = new EntityFacts(clientBudget(options.clientLimit ?? CLIENT_LIMIT))
    this.#expiryMs = (options.expiryS ?? EXPIRY_S) * 1000
    this.#now = options.now ?? (() => performance.now())
    this.#epochMs = () => (options.now === undefined ? Date.now() - performance.now() : 0)
  }

  /** Changes with every change of the agent's own devices, and when a series may belong to a different device. */
  get version(): number {
    return this.#ownDevices().version
  }

  /** Number of series in memory, including series that left. */
  get seriesCount(): number {
    return this.#own.count + this.#foreign.count
  }

  accept(batch: Batch): void {
    acceptBatch(this.stats, batch, this.#closed ? undefined : (batch) => this.#take(batch))
  }

  async flush(): Promise<void> {
    // Accepted records are in the next answer, so there is nothing to wait for.
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#own.clear()
    this.#foreign.clear()
  }

  /** An application ended: the entities that it reported last leave with it. */
  retire(source: SourceInfo): void {
    this.#foreign.retire(source, 'the application that reported it has ended', this.#now())
  }

  /**
   * All present devices, and devices that left within the last hour. The order is GPUs, NICs, interfaces, PCI devices,
   * other kinds; real before simulated; entities of applications last.
   */
  list(): readonly Device[] {
    return this.#everything().devices
  }

  /** The devices of {@link list} that the agent's own sources report, without their relations. */
  own(): readonly Device[] {
    return this.#ownDevices().devices
  }

  /** The facts that the agent's own sources reported. */
  facts(): Iterable<EntityFact> {
    return this.#own.all()
  }

  /** A device by its id. */
  byId(id: string): Device | undefined {
    return this.#everything().byId.get(id)
  }

  /**
   * The device that one of the agent's own series describes. Series of a PCI device belong to the GPU, NIC or interface
   * at its address; series of an interface belong to its NIC. `undefined` if no device is known.
   */
  deviceOf(type: Pick<RecordType, 'entity'>, labels: Labels): Device | undefined {
    const about = entityOf(type, labels)
    const node = { host: namedHost(type, labels) || this.#host, isSimulated: isSimulatedSeries(labels) }
    return about === undefined ? undefined : this.#ownDevices().places.at(about, node)
  }

  /**
   * Other present devices of the same kind and node that do the same work: all GPUs, or the NICs that are also in a
   * rail.
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

  /** An application can end only its own series. */
  #takeAbsences(facts: EntityFacts, batch: Batch, nowMs: number): void {
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
    const { devices, isWaiting } = withRelations(
      others.length === 0 ? own.devices : [...own.devices, ...others],
      facts,
      this.#host,
    )
    this.#isWaiting = isWaiting
    this.#all = devices === own.devices ? own : known(own.version, devices)
    return this.#all
  }

  #devicesOf(facts: EntityFacts): Device[] {
    const epochMs = this.#epochMs()
    return sortIntoWorlds(facts.all(), this.#host)
      .flatMap((world) => placed(worldDrafts(world)))
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

/** The devices of one version of the facts. */
interface Known {
  readonly version: number
  readonly devices: readonly Device[]
  readonly byId: ReadonlyMap<string, Device>
  readonly places: EntityIndex<Device>
}

function known(version: number, devices: readonly Device[]): Known {
  return {
    version,
    devices,
    byId: new Map(devices.map((device) => [device.id, device])),
    places: new EntityIndex(devices),
  }
}
