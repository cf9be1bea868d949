import type { Batch, Source } from '@sonde/sdk'
import type { TracebackEvent } from '@sonde/sdk/api'
import { createOwnSource, markType, messageOf, type QuotaHolder, within } from '@sonde/sdk/internal'
import type { HostEdge } from '../hosting/edge-gate.ts'
import type { RingSource } from '../hosting/running-source.ts'
import type { RecentRing } from '../pipeline/recent.ts'
import { defaultTracebackDir, type TracebackConfig } from './config.ts'
import { type EventFilter, type ListedEvents, listEvents } from './event-list.ts'
import { Archive } from './keep/archive.ts'
import { type EventDisk, systemDisk } from './keep/disk.ts'
import { LimitsReport } from './limits-report.ts'
import type { EventDeviceLookup, KnownRules } from './lookups.ts'
import { firstPartId, joinParts } from './parts.ts'
import { type EventContent, EventReader } from './read/event-reader.ts'
import type { ReadableEvent } from './read/samples.ts'
import { type Beginning, type BeginOptions, beginEvent } from './window/begin-event.ts'
import { type EventClock, systemClock } from './window/clock.ts'
import { EventNumbers } from './window/event-numbers.ts'
import { type OpenEvent, TRACEBACK_SOURCE } from './window/open-event.ts'
import { OpenEvents } from './window/open-events.ts'
import { Recorder } from './window/recorder.ts'
import { SourceNotices } from './window/source-notices.ts'

/** How often due work is done. Unit: milliseconds. */
const LOOK_MS = 20
/** How often the log reports events that limits left out. Unit: milliseconds. */
const TELL_MS = 10_000
const NS_PER_MS = 1_000_000n

/** Options of a {@link Traceback}. */
export interface TracebackOptions {
  readonly config: TracebackConfig
  readonly version: string
  readonly host: string
  /** The sources with the rings, and their periods. */
  readonly sources: () => readonly RingSource[]
  readonly recent: RecentRing
  /** Events that hosts and rules on reported records refused to begin. */
  readonly heldBack: () => number
  readonly devices: EventDeviceLookup
  readonly rules: KnownRules
  /** The name of a client. Default: its id. */
  readonly appOf?: (client: bigint) => string
  /** Takes the marks that the agent makes. */
  readonly accept: (batch: Batch) => void
  readonly log: {
    info(facts: object, message: string): void
    warn(facts: object, message: string): void
  }
  /** Receives errors that no caller awaits. */
  readonly caught: (error: unknown) => void
  /** Default: the machine's file system. */
  readonly disk?: EventDisk
  readonly clock?: EventClock
  /** Numbers of events that are in use, beside those of the events on disk. Default: none. */
  readonly taken?: ReadonlySet<number>
}

/** Origin of an edge, besides its source. */
export interface EdgeOrigin {
  /** The client whose records caused it. Default: a source of the agent. */
  readonly holder?: QuotaHolder
  /** Whether a ring of samples caused it. Default: reported records. */
  readonly isRing?: boolean
}

/**
 * The events of traceback. Edges open and close them; they are kept in a folder, with the windows of all rings between.
 */
export class Traceback {
  readonly archive: Archive
  /** Events beyond the limit of open events. */
  limited = 0
  /** Changes whenever the list of events changes. */
  version = 0
  readonly #options: TracebackOptions
  readonly #clock: EventClock
  readonly #told = new SourceNotices()
  readonly #recorder: Recorder
  readonly #reader: EventReader
  readonly #open = new OpenEvents()
  readonly #numbers: EventNumbers
  readonly #begins: BeginOptions
  readonly #marks: Source
  readonly #limitsTold: LimitsReport
  /** Runs while an event is open, so an agent without events is not woken. */
  #timer: NodeJS.Timeout | undefined
  #limits: NodeJS.Timeout | undefined
  #opening: Promise<void> | undefined
  #looking: Promise<void> = Promise.resolve()
  #isLooking = false
  #isClosed = false
  /** Whether the time for the last round is over. */
  #isOver = false

  constructor(options: TracebackOptions) {
    const { config, log, devices, rules, taken, clock = systemClock, disk = systemDisk } = options
    this.#options = options
    this.#clock = clock
    const { dir = defaultTracebackDir(), dir_bytes: bytesMax, events_max: eventsMax } = config
    const archive = new Archive({ dir, disk, bytesMax, eventsMax, taken, log })
    this.archive = archive
    this.#recorder = new Recorder({ ...options, clock, bytesMax: config.max_event_bytes })
    this.#reader = new EventReader({ archive, open: this.#open, disk, devices, rules, told: this.#told })
    const files = { partPath: (id: number) => archive.partPath(id), ready: () => archive.ready() }
    this.#begins = { appOf: (client) => `client ${client}`, ...options, ...files, disk, clock }
    this.#marks = createOwnSource({ id: TRACEBACK_SOURCE, emit: options.accept })
    const nowMs = Number((clock.monoNs() + clock.wallOffsetNs()) / NS_PER_MS)
    this.#numbers = new EventNumbers(nowMs, (id) => this.#open.get(id) !== undefined || archive.has(id))
    this.#limitsTold = new LimitsReport(log)
  }

  /** Lists the events on disk. */
  start(): void {
    this.#opening ??= this.archive.open().then(() => {
      this.version++
    }, this.#options.caught)
    this.#limits ??= setInterval(() => this.#tellLimits(), TELL_MS).unref()
  }

  /** Resolves when the events on disk are listed. */
  async opened(): Promise<void> {
    await this.#opening
  }

  /** Takes notices of sources about their samples. */
  note(batch: Batch): void {
    this.#told.take(batch)
  }

  /**
   * Takes an edge of a source, or of a combination.
   * @param from The client whose records caused it, and whether a ring did. Default: records of a source of the agent.
   */
  onEdge(source: string, edge: HostEdge, { holder, isRing = false }: EdgeOrigin = {}): void {
    if (this.#isClosed) return
    const going = this.#open.goingOf({ source, edgeEvent: edge.event, holder, isRing })
    if (!edge.isStart) {
      if (going !== undefined) this.#close(going, { ...edge, why: edge.isLost === true ? 'lost' : 'cleared' })
      return
    }
    if (going !== undefined) return
    const { rule, device, event: edgeEvent, monoNs, errorNs } = edge
    const opened = this.#begin({ rule, device, source, isRing, edgeEvent, holder, monoNs, errorNs }, edgeEvent)
    if (opened === undefined) this.version++
  }

  /**
   * The host of a source was lost, so it is unknown whether its rules on rings still hold. Rules on reported records
   * continue with the records of the next host, or end when the source leaves.
   */
  onLost(source: string): void {
    for (const event of this.#open.going()) {
      if (event.start.source !== source || !event.start.isRing) continue
      this.#close(event, { monoNs: this.#clock.monoNs(), errorNs: 0n, why: 'host_replaced' })
      this.#mark(event)
    }
  }

  /** Lists an event that another thread wrote into the folder. Returns whether the limits have room for it. */
  async adopt(id: number): Promise<boolean> {
    const isKept = await this.archive.adopt(id)
    this.version++
    return isKept
  }

  /** The present state of an event. */
  get(id: number): TracebackEvent | undefined {
    return this.#open.get(id)?.told() ?? this.archive.get(id)
  }

  /**
   * The samples of an event, even while it is open.
   * @throws SondeError `TRB_UNKNOWN` if there is no such event, `TRB_NOTE` if its note is invalid.
   */
  readable(id: number): Promise<ReadableEvent> {
    return this.#reader.readable(id)
  }

  /**
   * The file of a closed event, piece by piece.
   * @throws SondeError `TRB_UNKNOWN` if there is no such event, `TRB_NO_FILE` if it is open or has no samples.
   */
  fileOf(id: number): EventContent {
    return this.#reader.fileOf(id)
  }

  /** All events: kept events by start, then open events. */
  *events(): Generator<TracebackEvent> {
    yield* this.archive.byStart
    yield* this.#toldOpen()
  }

  /** Number of open events; the parts of an event count once. */
  get openCount(): number {
    return new Set(this.#open.all().map(({ first }) => first.id)).size
  }

  /** The parts of the event that a part belongs to, by start; empty if there is none. */
  partsOf(id: number): readonly TracebackEvent[] {
    const part = this.get(id)
    const first = part === undefined ? id : firstPartId(part)
    const open = this.#toldOpen().filter((one) => firstPartId(one) === first)
    return [...this.archive.whole.partsOf(first), ...open]
  }

  /**
   * Events as people see them: those of several parts are one. Open events come first, then those that ended at a time
   * or before, the latest first. The generator reads an event only when the caller takes it.
   */
  *latest(toMs = Number.POSITIVE_INFINITY): Generator<TracebackEvent> {
    const { whole } = this.archive
    const open = Map.groupBy(this.#toldOpen(), firstPartId)
    for (const [first, parts] of open) yield joinParts([...whole.partsOf(first), ...parts])
    const listed = new Set([...open.keys()].flatMap((first) => whole.partsOf(first)[0]?.id ?? []))
    for (const event of whole.endedBy(toMs)) if (!listed.has(event.id)) yield event
  }

  /** Matching events, the latest first. */
  list(filter: EventFilter): ListedEvents {
    return listEvents(this.archive.byStart, this.#toldOpen(), filter)
  }

  #toldOpen(): TracebackEvent[] {
    return this.#open.all().map((event) => event.told())
  }

  /** Ends all events, and keeps as many as the time allows. */
  async close(limitMs: number): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    clearInterval(this.#timer)
    clearInterval(this.#limits)
    const monoNs = this.#clock.monoNs()
    for (const event of this.#open.going()) {
      this.#close(event, { monoNs, errorNs: 0n, why: 'stopped' })
      this.#mark(event)
    }
    for (const event of this.#open.all())
      event.toNs = event.toNs === undefined || event.toNs > monoNs ? monoNs : event.toNs
    const ending = this.#looking.then(() => this.look())
    await within(limitMs, ending.catch(this.#options.caught))
    this.#isOver = true
    if (this.#open.count > 0)
      this.#options.log.warn({ events: this.#open.count, limitMs }, 'open events could not be kept before the stop')
    this.archive.close()
  }

  /** Does due work: fetches windows, cuts long events, and keeps ended events. One round at a time. */
  async look(): Promise<void> {
    await this.#opening
    this.#tellLimits()
    for (const event of this.#open.all()) {
      // The caller no longer waits, and hosts are gone.
      if (this.#isOver) return
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
        if (this.#open.count > 0) return
        clearInterval(this.#timer)
        this.#timer = undefined
      })
  }

  async #advance(event: OpenEvent): Promise<void> {
    const { config } = this.#options
    const nowNs = this.#clock.monoNs()
    const { isFull, isWhole } = await this.#recorder.advance(event, { isLast: this.#isClosed })
    const isLong = nowNs - event.start.monoNs >= BigInt(config.max_event_s) * 1000n * NS_PER_MS
    if (event.end === undefined && event.isTruncated) this.#truncate(event)
    else if (event.end === undefined && (isLong || isFull))
      this.#cut(event, isFull ? this.#recorder.reachedNs(event) : nowNs, isFull)
    if (event.end !== undefined && (isWhole || this.#isClosed || event.isTruncated || isFull)) await this.#keep(event)
  }

  /** The disk is full: the rest of the event is left out, however long its rule holds. */
  #truncate(event: OpenEvent): void {
    event.close('truncated', { monoNs: this.#clock.monoNs(), errorNs: 0n, afterNs: 0n })
    this.#open.ended(event)
    this.#mark(event)
  }

  /** Ends a part of an event that continues. The next part starts at the end of the windows of a full part. */
  #cut(event: OpenEvent, monoNs: bigint, isFull: boolean): void {
    const { id: continues, source, rule, device, isRing, edgeEvent, holder, offsetNs } = event.start
    event.close('cut', { monoNs, errorNs: 0n, afterNs: 0n })
    this.#open.ended(event)
    const from = { source, rule, device, isRing, edgeEvent, holder, continues, first: event.first, offsetNs }
    const next = this.#isClosed ? undefined : this.#begin({ ...from, monoNs: event.endNs, errorNs: 0n })
    if (next === undefined) this.#mark(event)
    else if (isFull) for (const [ring, ns] of event.cursors) next.cursors.set(ring, ns)
  }

  /**
   * Begins an event; undefined if the limit of open events is reached. Its number is the wanted number if that is free.
   */
  #begin(start: Omit<Beginning, 'id'>, wanted?: number): OpenEvent | undefined {
    if (!this.#open.hasRoom(start.holder)) {
      this.limited++
      return undefined
    }
    const event = beginEvent({ ...start, id: this.#numbers.next(wanted) }, this.#begins)
    this.#open.add(event)
    if (this.#opening !== undefined) this.#timer ??= setInterval(() => this.#lookSoon(), LOOK_MS).unref()
    this.version++
    return event
  }

  #close(
    event: OpenEvent,
    {
      why,
      monoNs,
      errorNs,
    }: Pick<HostEdge, 'monoNs' | 'errorNs'> & { readonly why: 'cleared' | 'lost' | 'stopped' | 'host_replaced' },
  ): void {
    const afterNs = why === 'stopped' ? 0n : event.start.afterNs
    event.close(why, { monoNs, errorNs, afterNs })
    this.#open.ended(event)
  }

  async #keep(event: OpenEvent): Promise<void> {
    const { id, rule, deviceId: device } = event.start
    try {
      const index = await this.#reader.indexOf(event)
      await this.archive.keep(event.ended(event.file.finalBytes), index, event.file)
    } catch (error) {
      event.isTruncated = true
      event.leftOut += event.file.records
      const reason = messageOf(error)
      this.#options.log.warn({ event: id, rule, device, reason }, 'an event cannot be kept on disk')
      await this.archive.remember(event.ended(0), event.file)
    }
    this.#open.remove(event)
    this.version++
  }

  /** Marks the end of an event that ended without an edge. The mark of its start has the number of its first part. */
  #mark({ start, first, end, endNs }: OpenEvent): void {
    const { rule, deviceId: device, offsetNs } = start
    const mark = { time: endNs + offsetNs, rule, device, event: first.id, edge: 'ended', severity: 'notice', unit: '' }
    this.#marks.report(markType, { ...mark, summary: `${rule}, ${end}` })
    this.#marks.flush()
  }

  #tellLimits(): void {
    this.#limitsTold.look(this.limitedTotal(), Number(this.#clock.monoNs() / NS_PER_MS))
  }

  /** Events that limits left out since the start: here, and before their edges arrived here. */
  limitedTotal(): number {
    return this.limited + this.#options.heldBack()
  }
}
