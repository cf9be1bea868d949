import { type Batch, markType, messageOf, type Source } from '@sonde/sdk'
import type { TracebackEvent } from '@sonde/sdk/api'
import { createOwnSource, type Holder, within } from '@sonde/sdk/internal'
import type { HostEdge } from '../hosting/edge-gate.ts'
import type { RunningSource } from '../hosting/running-source.ts'
import type { RecentRing } from '../pipeline/recent.ts'
import { defaultTracebackDir, type TracebackConfig } from './config.ts'
import { type EventFilter, type ListedEvents, listed } from './event-list.ts'
import { Archive } from './keep/archive.ts'
import { type EventDisk, systemDisk } from './keep/disk.ts'
import { LimitsTold } from './limits-told.ts'
import type { DeviceLookup, KnownRules } from './lookups.ts'
import { type EventContent, EventReader } from './read/event-reader.ts'
import type { ReadableEvent } from './read/samples.ts'
import { type Beginning, type BeginOptions, beginEvent } from './window/begin-event.ts'
import { type EventClock, systemClock } from './window/clock.ts'
import { EventNumbers } from './window/event-numbers.ts'
import { type OpenEvent, TRACEBACK_SOURCE } from './window/open-event.ts'
import { OpenEvents } from './window/open-events.ts'
import { Recorder } from './window/recorder.ts'
import { Told } from './window/told.ts'

/** How often it is looked for what is due. Unit: milliseconds. */
const LOOK_MS = 20
/** How often it is looked whether limits left events out. Unit: milliseconds. */
const TELL_MS = 10_000
const NS_PER_MS = 1_000_000n

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
  /** What a client is called. Default: by its id. */
  readonly appOf?: (client: bigint) => string
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

/** Where an edge comes from, beside its source. */
export interface EdgeOrigin {
  /** The client whose records made it. Default: a source of the agent did. */
  readonly holder?: Holder
  /** Whether a ring of samples made it. Default: what is reported did. */
  readonly isRing?: boolean
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
  readonly #told = new Told()
  readonly #recorder: Recorder
  readonly #reader: EventReader
  readonly #open = new OpenEvents()
  readonly #numbers: EventNumbers
  readonly #begins: BeginOptions
  readonly #marks: Source
  readonly #limitsTold: LimitsTold
  /** Runs while an event is open: an agent without events is not woken. */
  #timer: NodeJS.Timeout | undefined
  #limits: NodeJS.Timeout | undefined
  #opening: Promise<void> | undefined
  #looking: Promise<void> = Promise.resolve()
  #isLooking = false
  #isClosed = false
  /** The time for the last round is over. */
  #isOver = false

  constructor(options: TracebackOptions) {
    const { config, log, devices, rules, clock = systemClock, disk = systemDisk } = options
    this.#options = options
    this.#clock = clock
    const { dir = defaultTracebackDir(), dir_bytes: bytesMax, events_max: eventsMax } = config
    const archive = new Archive({ dir, disk, bytesMax, eventsMax, log })
    this.archive = archive
    this.#recorder = new Recorder({ ...options, clock, bytesMax: config.max_event_bytes })
    this.#reader = new EventReader({ archive, open: this.#open, disk, devices, rules, told: this.#told })
    const files = { partPath: (id: number) => archive.partPath(id), ready: () => archive.ready() }
    this.#begins = { appOf: (client) => `client ${client}`, ...options, ...files, disk, clock }
    this.#marks = createOwnSource({ id: TRACEBACK_SOURCE, emit: options.accept })
    const nowMs = Number((clock.monoNs() + clock.wallOffsetNs()) / NS_PER_MS)
    this.#numbers = new EventNumbers(nowMs, (id) => this.#open.get(id) !== undefined || archive.has(id))
    this.#limitsTold = new LimitsTold(log)
  }

  /** Lists what is on disk. */
  start(): void {
    this.#opening ??= this.archive.open().then(() => {
      this.version++
    }, this.#options.caught)
    this.#limits ??= setInterval(() => this.#tellLimits(), TELL_MS).unref()
  }

  /** Resolves when what was on disk is listed. */
  async opened(): Promise<void> {
    await this.#opening
  }

  /** Takes what sources say of their samples. */
  note(batch: Batch): void {
    this.#told.take(batch)
  }

  /**
   * An edge of a source, or of a combination.
   *
   * @param from The client whose records made it, and whether a ring of samples did. Default: records of a source of
   * the agent.
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
   * The host of a source was lost: nobody sees whether its rules on rings still hold. Rules on what it reports are held
   * against what the next host reports, or end when the source leaves.
   */
  onLost(source: string): void {
    for (const event of this.#open.going()) {
      if (event.start.source !== source || !event.start.isRing) continue
      this.#close(event, { monoNs: this.#clock.monoNs(), errorNs: 0n, why: 'host_replaced' })
      this.#mark(event)
    }
  }

  /** An event, as it is now. */
  get(id: number): TracebackEvent | undefined {
    return this.#open.get(id)?.told() ?? this.archive.get(id)
  }

  /**
   * The samples of an event, also while it is open.
   *
   * @throws SondeError `TRB_UNKNOWN` if there is no such event, `TRB_NOTE` if its note does not hold.
   */
  readable(id: number): Promise<ReadableEvent> {
    return this.#reader.readable(id)
  }

  /**
   * The file of an event that is closed, piece by piece.
   *
   * @throws SondeError `TRB_UNKNOWN` if there is no such event, `TRB_NO_FILE` if it is open or has no samples.
   */
  fileOf(id: number): EventContent {
    return this.#reader.fileOf(id)
  }

  /** All events: those that are kept, by their starts, then those that are open. */
  *events(): Generator<TracebackEvent> {
    yield* this.archive.byStart
    yield* this.#toldOpen()
  }

  /** Events that are open; the parts of one count once. */
  get openCount(): number {
    return new Set(this.#open.all().map(({ first }) => first.id)).size
  }

  /** Events that match, the latest first. */
  list(filter: EventFilter): ListedEvents {
    return listed(this.archive.byStart, this.#toldOpen(), filter)
  }

  #toldOpen(): TracebackEvent[] {
    return this.#open.all().map((event) => event.told())
  }

  /** Ends all events, and keeps them as far as that can be done in the time. */
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

  /** Does what is due: fetches windows, cuts what is too long, and keeps what has ended. One round at a time. */
  async look(): Promise<void> {
    await this.#opening
    this.#tellLimits()
    for (const event of this.#open.all()) {
      // Nobody waits any more, and hosts are gone.
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

  /** The disk takes no more: the rest of the event is left out, also where its rule holds for long. */
  #truncate(event: OpenEvent): void {
    event.close('truncated', { monoNs: this.#clock.monoNs(), errorNs: 0n, afterNs: 0n })
    this.#open.ended(event)
    this.#mark(event)
  }

  /** Ends a part of an event that goes on; the next part continues it, where the windows of a full part end. */
  #cut(event: OpenEvent, monoNs: bigint, isFull: boolean): void {
    const { id: continues, source, rule, device, isRing, edgeEvent, holder } = event.start
    event.close('cut', { monoNs, errorNs: 0n, afterNs: 0n })
    this.#open.ended(event)
    const from = { source, rule, device, isRing, edgeEvent, holder, continues, first: event.first }
    const next = this.#isClosed ? undefined : this.#begin({ ...from, monoNs: event.endNs, errorNs: 0n })
    if (next === undefined) this.#mark(event)
    else if (isFull) for (const [ring, ns] of event.cursors) next.cursors.set(ring, ns)
  }

  /** Begins an event; undefined if there is no room for it. Its number is the wanted number if that is free. */
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

  /** Marks the end of an event that no edge ended. The mark of its start has the number of its first part. */
  #mark({ start, first, end, endNs }: OpenEvent): void {
    const { rule, deviceId: device, offsetNs } = start
    const mark = { time: endNs + offsetNs, rule, device, event: first.id, edge: 'ended', severity: 'notice', unit: '' }
    this.#marks.report(markType, { ...mark, summary: `${rule}, ${end}` })
    this.#marks.flush()
  }

  #tellLimits(): void {
    this.#limitsTold.look(this.limitedTotal(), Number(this.#clock.monoNs() / NS_PER_MS))
  }

  /** Events that limits left out, since the start: here, and before edges came here. */
  limitedTotal(): number {
    return this.limited + this.#options.heldBack()
  }
}
