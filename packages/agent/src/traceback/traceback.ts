import { type Batch, markType, messageOf, type RecordType, SondeError, type Source } from '@sonde/sdk'
import { createOwnSource, type TracebackEvent, within } from '@sonde/sdk/internal'
import type { Device } from '../devices/device.ts'
import { isSimulatedOf } from '../devices/world.ts'
import { EVENT_SLOTS, firstEventOf, type HostEdge } from '../hosting/edge-gate.ts'
import type { RunningSource } from '../hosting/running-source.ts'
import type { RecentRing } from '../pipeline/recent.ts'
import { defaultTracebackDir, type TracebackConfig } from './config.ts'
import { eventDeviceId } from './event-device-id.ts'
import { type EventFilter, filtered } from './event-list.ts'
import { indexOf } from './index-of.ts'
import { Archive } from './keep/archive.ts'
import { type EventDisk, systemDisk } from './keep/disk.ts'
import { EventFile } from './keep/event-file.ts'
import type { IndexSignal, ReadIndex } from './keep/kept-index.ts'
import { SeriesBook } from './keep/series-book.ts'
import { ReadIndexes } from './read/read-indexes.ts'
import type { ReadableEvent } from './read/samples.ts'
import { type EventClock, msOf, systemClock } from './window/clock.ts'
import { type EventStart, OpenEvent } from './window/open-event.ts'
import { Recorder } from './window/recorder.ts'
import { Told } from './window/told.ts'

/** Events that are not kept yet: each holds a file open, and tables of its series. Further ones are counted. */
const OPEN_MAX = 256
/** How often it is looked for what is due. Unit: milliseconds. */
const LOOK_MS = 20
const MINUTE_MS = 60_000
/** How often it is looked whether limits left events out. Unit: milliseconds. */
const TELL_MS = 10_000
const MS = 1_000_000n
/**
 * Samples that an event has at least of before and after it, of the signal that its rule watches: fewer say nothing of
 * what is usual.
 */
const BEFORE_PERIODS = 10
const AFTER_PERIODS = 3
/** A source that is slower than this gets no longer windows. Unit: milliseconds. */
const PERIOD_MAX_MS = 6000
/** Source of the marks that the agent itself makes of events. */
export const TRACEBACK_SOURCE = 'traceback'

/** Of an event whose samples could not be kept. */
const NOTHING: ReadIndex = { parts: [], blocks: [], series: [], listed: [], types: [] }

/** What names the device that a series is about. */
export interface DeviceLookup {
  deviceOf(type: Pick<RecordType, 'entity'>, labels: Readonly<Record<string, string>>): Device | undefined
  byId(id: string): Device | undefined
  /** Those that the agent's own sources tell of. */
  own(): readonly Device[]
}

/** What rules say, for the events that they open. */
export interface KnownRules {
  /** What a rule says, in words; empty where it is not known. */
  conditionOf(rule: string): string
  /** The signal that a rule watches; undefined where it is not known, or is none. */
  signalOf(rule: string): IndexSignal | undefined
  /** All signals that the file of rules lists. */
  listed(): readonly IndexSignal[]
}

/** Options of a {@link Traceback}. */
export interface TracebackOptions {
  readonly config: TracebackConfig
  readonly version: string
  readonly host: string
  /** Where rings are, and what sources say of their periods. */
  readonly sources: () => readonly RunningSource[]
  readonly recent: RecentRing
  /** Events that hosts and rules on reported records did not let begin. */
  readonly heldBack: () => number
  readonly devices: DeviceLookup
  readonly rules: KnownRules
  /** Takes the marks that the agent makes. */
  readonly accept: (batch: Batch) => void
  readonly log: {
    info(facts: object, message: string): void
    warn(facts: object, message: string): void
  }
  /** What is thrown where nobody waits for it. */
  readonly caught: (error: unknown) => void
  /** Default: that of the machine. */
  readonly disk?: EventDisk
  readonly clock?: EventClock
}

/**
 * The events of traceback: opened and closed by edges, with the windows of all rings in between, and kept in a folder.
 */
export class Traceback {
  readonly archive: Archive
  /** Events that found no place here. */
  limited = 0
  /** Changes whenever the list of events would. */
  version = 0
  readonly #options: TracebackOptions
  readonly #clock: EventClock
  readonly #disk: EventDisk
  readonly #told = new Told()
  readonly #recorder: Recorder
  /** The event that goes on, by its source and the number of its edges. */
  readonly #going = new Map<string, OpenEvent>()
  /** Events that are not kept yet, by number. */
  readonly #open = new Map<number, OpenEvent>()
  readonly #marks: Source
  readonly #indexes = new ReadIndexes()
  #number: number
  /** Runs while an event is open: an agent without events is not woken. */
  #timer: NodeJS.Timeout | undefined
  #limits: NodeJS.Timeout | undefined
  #opening: Promise<void> | undefined
  #looking: Promise<void> = Promise.resolve()
  #isLooking = false
  #isClosed = false
  #toldLimited = 0
  #toldLimitedMs = Number.NEGATIVE_INFINITY

  constructor(options: TracebackOptions) {
    const { config, log, clock = systemClock, disk = systemDisk } = options
    this.#options = options
    this.#clock = clock
    this.#disk = disk
    const { dir = defaultTracebackDir(), dir_bytes: bytesMax, events_max: eventsMax } = config
    this.archive = new Archive({ dir, disk, bytesMax, eventsMax, log })
    this.#recorder = new Recorder({ ...options, clock, bytesMax: config.max_event_bytes })
    this.#marks = createOwnSource({ id: TRACEBACK_SOURCE, emit: options.accept })
    this.#number = firstEventOf(0, Number((clock.monoNs() + clock.wallOffsetNs()) / MS))
  }

  /** Lists what is on disk. */
  start(): void {
    this.#opening ??= this.archive.open().then(() => {
      this.version++
    }, this.#options.caught)
    this.#limits ??= setInterval(() => this.#tellLimitedOnceAMinute(), TELL_MS).unref()
  }

  /** Resolves when what was on disk is listed. */
  async opened(): Promise<void> {
    await this.#opening
  }

  /** Takes what sources say of their samples. */
  note(batch: Batch): void {
    this.#told.take(batch)
  }

  /** An edge of a source, or of a combination. */
  onEdge(source: string, edge: HostEdge): void {
    if (this.#isClosed) return
    const key = keyOf(source, edge.event)
    const going = this.#going.get(key)
    if (!edge.isStart) {
      if (going !== undefined) this.#close(key, going, { ...edge, why: 'cleared' })
      return
    }
    if (going !== undefined) return
    const { rule, device, monoNs, errorNs } = edge
    const start = { rule, device, monoNs, errorNs, edgeEvent: edge.event, id: this.#ownNumber(edge.event) }
    const opened = this.#begin(key, source, start)
    if (opened === undefined) this.version++
  }

  /** The host of a source was lost: nobody sees whether its rules still hold. */
  onLost(source: string): void {
    for (const [key, event] of this.#going) {
      if (event.start.source !== source) continue
      this.#close(key, event, { monoNs: this.#clock.monoNs(), errorNs: 0n, why: 'host_replaced' })
      this.#mark(event, 'ended')
    }
  }

  /** An event, as it is now. */
  get(id: number): TracebackEvent | undefined {
    return this.#open.get(id)?.told() ?? this.archive.get(id)
  }

  /**
   * The samples of an event, also while it is open.
   *
   * @throws SondeError `TRB_UNKNOWN` where there is no such event, `TRB_NOTE` where its note does not hold.
   */
  async readable(id: number): Promise<ReadableEvent> {
    const open = this.#open.get(id)
    if (open !== undefined) {
      const { devices, rules } = this.#options
      const signal = rules.signalOf(open.start.rule)
      const kept = await indexOf(open, { devices, told: this.#told, signal, listed: rules.listed() })
      const index = { ...kept, types: open.book.parts.map(({ type }) => type) }
      return { index, read: (at, bytes) => this.#readOpen(id, at, bytes) }
    }
    const event = this.archive.get(id)
    if (event === undefined) throw new SondeError('TRB_UNKNOWN', `there is no event ${id}; /api/v1/events lists them`)
    const index = event.sizeBytes === 0 ? NOTHING : await this.#indexes.of(id, () => this.archive.indexOf(id))
    return { index, read: (at, bytes) => this.archive.read(id, at, bytes) }
  }

  /** Bytes of the file of an event that was open when it was asked for, and may be kept by now. */
  async #readOpen(id: number, at: number, bytes: number): Promise<Uint8Array> {
    try {
      return await this.#disk.read(this.archive.partPath(id), at, bytes)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
      return this.archive.read(id, at, bytes)
    }
  }

  /**
   * The file of an event that is closed, piece by piece.
   *
   * @throws SondeError `TRB_UNKNOWN` where there is no such event, `TRB_NO_FILE` where it is open or has no samples.
   */
  async fileOf(id: number): Promise<{ readonly bytes: number; readonly chunks: AsyncIterable<Uint8Array> }> {
    const event = this.get(id)
    if (event === undefined) throw new SondeError('TRB_UNKNOWN', `there is no event ${id}; /api/v1/events lists them`)
    if (this.#open.has(id))
      throw new SondeError('TRB_NO_FILE', `event ${id} is not whole yet; its file is there once it has ended`)
    if (event.sizeBytes === 0) throw new SondeError('TRB_NO_FILE', `event ${id} has no samples, and so no file`)
    return { bytes: event.sizeBytes, chunks: this.archive.chunks(id, event.sizeBytes) }
  }

  /** All events, in no order. */
  *events(): Generator<TracebackEvent> {
    yield* this.archive.events()
    for (const event of this.#open.values()) yield event.told()
  }

  get openCount(): number {
    return this.#open.size
  }

  /** Events that match, the latest first. */
  list(filter: EventFilter): ReturnType<typeof filtered> {
    return filtered(this.events(), filter)
  }

  /** Ends all events, and keeps them as far as that can be done in the time. */
  async close(limitMs: number): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    clearInterval(this.#timer)
    clearInterval(this.#limits)
    const monoNs = this.#clock.monoNs()
    for (const [key, event] of this.#going) {
      this.#close(key, event, { monoNs, errorNs: 0n, why: 'stopped' })
      this.#mark(event, 'ended')
    }
    for (const event of this.#open.values())
      event.toNs = event.toNs === undefined || event.toNs > monoNs ? monoNs : event.toNs
    const ending = this.#looking.then(() => this.look())
    await within(limitMs, ending.catch(this.#options.caught))
    this.archive.close()
  }

  /** Does what is due: fetches windows, cuts what is too long, and keeps what has ended. One round at a time. */
  async look(): Promise<void> {
    await this.#opening
    this.#tellLimitedOnceAMinute()
    for (const event of [...this.#open.values()]) {
      try {
        await this.#advance(event)
      } catch (error) {
        this.#options.caught(error)
      }
    }
  }

  #lookSoon(): void {
    if (this.#isLooking) return
    this.#isLooking = true
    this.#looking = this.look()
      .catch(this.#options.caught)
      .finally(() => {
        this.#isLooking = false
        if (this.#open.size > 0) return
        clearInterval(this.#timer)
        this.#timer = undefined
      })
  }

  async #advance(event: OpenEvent): Promise<void> {
    const { config } = this.#options
    const nowNs = this.#clock.monoNs()
    const { isFull, isWhole } = await this.#recorder.advance(event, { isLast: this.#isClosed })
    const isLong = nowNs - event.start.monoNs >= BigInt(config.max_event_s) * 1000n * MS
    if (event.end === undefined && event.isTruncated) this.#truncate(event)
    else if (event.end === undefined && (isLong || isFull))
      this.#cut(event, isFull ? this.#recorder.reachedNs(event) : nowNs, isFull)
    if (event.end !== undefined && (isWhole || this.#isClosed || event.isTruncated || isFull)) await this.#keep(event)
  }

  /** The disk takes no more: the rest of the event is left out, also where its rule holds for long. */
  #truncate(event: OpenEvent): void {
    event.close('truncated', { monoNs: this.#clock.monoNs(), errorNs: 0n, afterNs: 0n })
    this.#going.delete(keyOf(event.start.source, event.start.edgeEvent))
    this.#mark(event, 'ended')
  }

  /** Ends an event that goes on; the next event continues it, where the windows of a full event end. */
  #cut(event: OpenEvent, monoNs: bigint, isFull: boolean): void {
    const { source, rule, device, id, edgeEvent } = event.start
    const key = keyOf(source, edgeEvent)
    event.close('cut', { monoNs, errorNs: 0n, afterNs: 0n })
    this.#going.delete(key)
    this.#mark(event, 'ended')
    if (this.#isClosed) return
    const start = { rule, device, edgeEvent, monoNs: event.endNs, errorNs: 0n, continues: id }
    const next = this.#begin(key, source, { ...start, id: this.#ownNumber() })
    if (next === undefined) return
    if (isFull) for (const [ring, ns] of event.cursors) next.cursors.set(ring, ns)
    this.#mark(next, 'opened')
  }

  #begin(
    key: string,
    source: string,
    start: Pick<EventStart, 'id' | 'edgeEvent' | 'rule' | 'device' | 'monoNs' | 'errorNs'> & {
      readonly continues?: number
    },
  ): OpenEvent | undefined {
    const { config, version, host, rules } = this.#options
    if (this.#open.size >= OPEN_MAX) {
      this.limited++
      return undefined
    }
    const offsetNs = this.#clock.wallOffsetNs()
    const running = this.#options.sources().find(({ name }) => name === source)
    const periodMs = periodOf(running, rules.signalOf(start.rule)?.type)
    const aroundMs = {
      before: Math.max(config.before_ms, BEFORE_PERIODS * periodMs),
      after: Math.max(config.after_ms, AFTER_PERIODS * periodMs),
    }
    const beforeNs = start.continues === undefined ? BigInt(Math.round(aroundMs.before)) * MS : 0n
    const afterNs = BigInt(Math.round(aroundMs.after)) * MS
    const book = new SeriesBook(start.monoNs + offsetNs, beforeNs)
    const createdMs = msOf(start.monoNs + offsetNs)
    const origin = { id: TRACEBACK_SOURCE, tag: '', labels: {}, schema: 'sonde', host, pid: process.pid, version }
    const path = this.archive.partPath(start.id)
    const file = new EventFile({
      disk: this.#disk,
      path,
      source: origin,
      createdMs,
      book,
      ready: () => this.archive.ready(),
    })
    const isSimulated = isSimulatedOf(running?.definition.labels ?? {})
    const condition = rules.conditionOf(start.rule)
    const deviceId = eventDeviceId({ device: start.device, isSimulated }, running, this.#options.devices)
    const event = new OpenEvent(
      { ...start, source, condition, deviceId, offsetNs, beforeNs, afterNs, isSimulated },
      { book, file },
    )
    this.#going.set(key, event)
    this.#open.set(start.id, event)
    if (this.#opening !== undefined) this.#timer ??= setInterval(() => this.#lookSoon(), LOOK_MS).unref()
    this.version++
    return event
  }

  #close(
    key: string,
    event: OpenEvent,
    {
      why,
      monoNs,
      errorNs,
    }: Pick<HostEdge, 'monoNs' | 'errorNs'> & { readonly why: 'cleared' | 'stopped' | 'host_replaced' },
  ): void {
    const afterNs = why === 'stopped' ? 0n : event.start.afterNs
    event.close(why, { monoNs, errorNs, afterNs })
    this.#going.delete(key)
  }

  async #keep(event: OpenEvent): Promise<void> {
    const { devices, rules, log } = this.#options
    const { id, rule, deviceId: device } = event.start
    const signal = rules.signalOf(rule)
    try {
      const index = await indexOf(event, { devices, told: this.#told, signal, listed: rules.listed() })
      await this.archive.keep(event.ended(event.file.finalBytes), index, event.file)
    } catch (error) {
      event.isTruncated = true
      event.leftOut += event.file.records
      log.warn({ event: id, rule, device, reason: messageOf(error) }, 'an event cannot be kept on disk')
      await this.archive.remember(event.ended(0))
    }
    this.#open.delete(id)
    this.version++
  }

  /** The number of an event: what its host gave, where that is free. */
  #ownNumber(wanted?: number): number {
    if (wanted !== undefined && wanted > 0 && !this.#open.has(wanted) && !this.archive.has(wanted)) return wanted
    do this.#number += EVENT_SLOTS
    while (this.archive.has(this.#number))
    return this.#number
  }

  #mark({ start, end, endNs }: OpenEvent, edge: 'opened' | 'ended'): void {
    const { rule, deviceId: device, id: event, offsetNs, monoNs, continues } = start
    const time = (edge === 'opened' ? monoNs : endNs) + offsetNs
    const summary = edge === 'opened' ? `${rule}, continues event ${continues}` : `${rule}, ${end}`
    this.#marks.report(markType, { time, rule, device, event, edge, severity: 'notice', unit: '', summary })
    this.#marks.flush()
  }

  #tellLimitedOnceAMinute(): void {
    const nowMs = Number(this.#clock.monoNs() / MS)
    const limited = this.limitedTotal()
    if (limited === this.#toldLimited || nowMs - this.#toldLimitedMs < MINUTE_MS) return
    const events = limited - this.#toldLimited
    this.#toldLimited = limited
    this.#toldLimitedMs = nowMs
    this.#options.log.warn({ events }, 'events were left out: more began than traceback.events_per_minute allows')
  }

  /** Events that limits left out, since the start: here, and before edges came here. */
  limitedTotal(): number {
    return this.limited + this.#options.heldBack()
  }
}

/** Between two samples of a type; 0 where nobody says. Unit: milliseconds. */
function periodOf(running: RunningSource | undefined, type: string | undefined): number {
  if (type === undefined) return 0
  const periods = running?.stats.periods ?? []
  const said = periods.find((one) => one.type === type) ?? periods.find((one) => one.type === '')
  return Math.min((said?.sampleUs ?? said?.reportUs ?? 0) / 1000, PERIOD_MAX_MS)
}

/** Two clients may have one source id and one device: what their edges bear tells their events apart. */
function keyOf(source: string, edgeEvent: number): string {
  return `${edgeEvent} ${source}`
}
