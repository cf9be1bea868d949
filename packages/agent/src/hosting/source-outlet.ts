import {
  Absences,
  type Batch,
  countDrop,
  type Labels,
  type RecordType,
  SondeError,
  type Source,
  wallNs,
} from '@sonde/sdk'
import { clockType, createOwnSource, markType, TextTable, wallOffsetNs } from '@sonde/sdk/internal'
import type { SeriesEdge } from '../rules/record-series.ts'
import { RecordWatch } from '../rules/record-watch.ts'
import { TapWatch } from '../rules/tap-watch.ts'
import { NO_WATCH, type Watch } from '../rules/watch.ts'
import { type Bracket, halfOf, middleOf } from '../sampling/bracket.ts'
import { ClockModel } from '../sampling/clock-model.ts'
import { type CutWindow, Tap } from '../sampling/tap.ts'
import { RangeGuard } from '../sources/ranges/range-guard.ts'
import type { DeviceReport, SourceContext, SourceEdge, SourcePaths, SourceReports } from '../sources/source.ts'
import { EdgeGate, type EdgeLimits, type HostEdge } from './edge-gate.ts'
import { reportMark } from './edge-mark.ts'
import type { FailedReads } from './failed-reads.ts'
import { FloodBudget } from './flood.ts'
import type { TapInfo } from './protocol.ts'

/** Memory of all rings of a source. Unit: bytes. */
const TAPS_BYTES_MAX = 256 << 20
/** A clock is reported so often at most. Unit: milliseconds. */
const CLOCK_EVERY_MS = 1000

/** Options of a {@link SourceOutlet}. */
export interface OutletOptions {
  readonly name: string
  readonly intervalMs: number
  /** See {@link SourceContext}. Default: now. */
  readonly startedMs?: number | undefined
  readonly labels?: Labels | undefined
  readonly paths: SourcePaths
  /** See {@link SourceContext}. Default: there is none. */
  readonly library?: unknown
  /** Limit of the records of a device in an interval. Unit: bytes. Default: no limit. */
  readonly floodBytes?: number
  readonly emit: (batch: Batch) => void
  /** Called with each edge, behind its mark. Default: nobody is told. */
  readonly onEdge?: ((edge: HostEdge) => void) | undefined
  /** Default: those of an {@link EdgeGate}. */
  readonly edges?: EdgeLimits
  /** Where failures and drops are counted. */
  readonly stats: { readonly failed: Pick<FailedReads, 'add'>; readonly dropped: Map<string, number> }
}

/** A clock of a device, and its last report. */
interface ReportedClock {
  readonly device: string
  readonly clock: string
  readonly model: ClockModel
  told: Bracket | undefined
  toldMs: number
}

/** The ring of a type and device, and the rules that watch it. */
interface WatchedTap {
  readonly tap: Tap
  readonly device: string
  watch: RingWatch | undefined
}

type RingWatch = TapWatch | RecordWatch

/** A device of a source, as far as it reports apart from the others. */
interface DeviceOutlet extends DeviceReport {
  readonly budget: FloodBudget
}

/** The outlet of one source, in any host: its records, rings and rules. */
export class SourceOutlet {
  readonly context: SourceContext
  readonly source: Source
  readonly #options: OutletOptions
  readonly #absences: Absences
  readonly #reports: SourceReports
  readonly #budget: FloodBudget
  readonly #devices = new Map<string, DeviceOutlet>()
  readonly #taps = new Map<string, WatchedTap>()
  readonly #clocks = new Map<string, ReportedClock>()
  readonly #edges: EdgeGate
  #watch: Watch = NO_WATCH

  constructor(options: OutletOptions) {
    const { name, intervalMs, labels = {}, paths, library, stats } = options
    this.#options = options
    this.#edges = new EdgeGate(options.edges)
    this.#budget = new FloodBudget(options.floodBytes ?? Number.POSITIVE_INFINITY, intervalMs)
    const dropped = (reason: string, records: number) => countDrop(stats, reason, records)
    this.source = createOwnSource({
      id: name,
      intervalMs,
      labels,
      emit: (batch) => this.#emit(batch),
      onLoss: dropped,
    })
    this.#absences = new Absences(this.source)
    this.#reports = guarded(this.source, new RangeGuard(this.#absences))
    this.context = {
      name,
      intervalMs,
      startedMs: options.startedMs ?? Date.now(),
      source: this.#reports,
      library,
      absences: this.#absences,
      paths,
      dropped,
      failed: (place, error) => stats.failed.add(place, error, Date.now()),
      report: (device) => this.#deviceOf(device),
      sampled: (type, device, records) => this.#tapOf(type, device, records),
      edge: (edge) => this.#reportEdge(edge),
      clock: (device, clock, ticksPerSecond) => this.#clockOf(device, clock, ticksPerSecond),
    }
  }

  /** The ring of a type and a device; undefined if there is none. */
  tap(type: string, device: string): Tap | undefined {
    return this.#taps.get(`${type}\n${device}`)?.tap
  }

  /**
   * Replaces the rules that watch its rings; events of the old rules end.
   *
   * @throws SondeError `AGT_TAP` for a rule whose history exceeds a ring; the old rules then stay.
   */
  watch(watch: Watch): void {
    const taps = [...this.#taps.values()]
    const watches = taps.map(({ tap, device }) => this.#watchOf(tap, device, watch))
    for (const [at, { tap }] of taps.entries()) tap.checkReach(watches[at])
    for (const [at, known] of taps.entries()) {
      known.tap.watch(watches[at])
      known.watch = watches[at]
    }
    for (const { rule, device } of this.#edges.openOf(this.#watch.rules.map(({ name }) => name))) {
      this.#reportEdge({ rule, device, isStart: false, monoNs: process.hrtime.bigint(), errorNs: 0n })
    }
    this.#watch = watch
  }

  /** The rings of a type. */
  rings(type: string): Tap[] {
    return [...this.#taps.values()].flatMap(({ tap }) => (tap.type.name === type ? [tap] : []))
  }

  /** All rings, as who asks for windows must know them. */
  taps(): TapInfo[] {
    return [...this.#taps.values()].map(({ tap, device, watch }) => {
      const { type, capacity, count } = tap
      const rules = watch?.rules ?? []
      const [oldest, newest] = tap.span()
      const times = { oldestMonoNs: String(oldest), newestMonoNs: String(newest) }
      return { type: type.name, device, rules, capacity, count, recordBytes: type.layout.recordBytes, ...times }
    })
  }

  /** A window in batches of so many bytes at most. Their ids are those of labels alone. */
  *piecesOf({ type, bytes, count }: CutWindow, bytesMax: number): Generator<Batch> {
    const { recordBytes } = type.layout
    const { info: source, symbols: labels } = this.source
    const perPiece = Math.max(1, Math.floor(bytesMax / recordBytes))
    const common = { type, source, clock: 'wall', origin: 'own', symbols: new TextTable(labels) } as const
    for (let at = 0; at < count; at += perPiece) {
      const end = Math.min(count, at + perPiece)
      const arrivedMs = performance.now()
      yield { ...common, count: end - at, bytes: bytes.subarray(at * recordBytes, end * recordBytes), arrivedMs }
    }
  }

  /** Calls begin: what a new interval allows may be reported. */
  begin(): void {
    const nowMs = performance.now()
    this.#budget.renew(nowMs)
    for (const { budget } of this.#devices.values()) budget.renew(nowMs)
  }

  /** Calls are done: everything that was reported leaves. */
  flush(): void {
    this.#absences.repeat()
    if (this.#watch.rules.length > 0) this.#wait()
    if (this.#clocks.size > 0) this.#reportClocks()
    this.source.flush()
  }

  /** Sets the present devices; state of other devices is removed. */
  keep(devices: ReadonlySet<string>): void {
    for (const device of this.#devices.keys()) if (!devices.has(device)) this.#devices.delete(device)
  }

  #emit(batch: Batch): void {
    const { floodBytes = Number.POSITIVE_INFINITY, emit, stats } = this.#options
    // Each device is within its budget; the common limit may be higher.
    this.#budget.limitBytes = floodBytes * (1 + this.#devices.size)
    // Marks have the limit of edges: no flood of records keeps the mark of an edge back.
    if (batch.type === markType || this.#budget.take(batch.bytes.byteLength)) emit(batch)
    else countDrop(stats, 'flood', batch.count)
  }

  #deviceOf(device: string): DeviceReport {
    const { floodBytes = Number.POSITIVE_INFINITY, intervalMs, stats } = this.#options
    let known = this.#devices.get(device)
    if (known !== undefined) return known
    const reports = this.#reports
    const budget = new FloodBudget(floodBytes, intervalMs)
    known = {
      budget,
      report(type, record) {
        if (budget.take(type.layout.recordBytes)) reports.report(type, record)
        else countDrop(stats, 'flood', 1)
      },
    }
    this.#devices.set(device, known)
    return known
  }

  #tapOf(type: RecordType, device: string, records: number): Tap {
    const key = `${type.name}\n${device}`
    const former = this.#taps.get(key)?.tap
    if (former?.type.fingerprint === type.fingerprint && former.capacity === records) return former
    // The type of the samples has changed: a ring holds records of one type.
    this.#taps.delete(key)
    const takenBytes = [...this.#taps.values()].reduce((sum, { tap: { byteLength } }) => sum + byteLength, 0)
    if (takenBytes + records * type.layout.recordBytes > TAPS_BYTES_MAX) {
      const what = `a ring of ${records} ${type.name} for ${device}, beside ${takenBytes} bytes of other rings`
      throw new SondeError('AGT_TAP', `${what}; allowed: ${TAPS_BYTES_MAX} bytes a source`)
    }
    const tap = new Tap(type, records)
    const known = { tap, device, watch: undefined as RingWatch | undefined }
    this.#taps.set(key, known)
    try {
      known.watch = this.#watchOf(tap, device, this.#watch)
      tap.watch(known.watch)
    } catch (error) {
      // The samples are worth having without the rules.
      known.watch = undefined
      this.#options.stats.failed.add(`the rules of ${device}`, error, Date.now())
    }
    return tap
  }

  #watchOf(tap: Tap, device: string, watch: Watch): RingWatch | undefined {
    const onEdge = ({ rule, monoNs, isStart, isLost = false }: SeriesEdge) =>
      this.#reportEdge({ rule, device, monoNs, isStart, isLost, errorNs: this.#errorNsOf(device) + tap.aheadNs })
    const Kind = RecordWatch.isFor(tap.type) ? RecordWatch : TapWatch
    return Kind.of(tap, device, watch, onEdge)
  }

  /** The state of a rule that waits for missing samples. */
  #wait(): void {
    const nowNs = process.hrtime.bigint()
    for (const { watch } of this.#taps.values()) watch?.wait(nowNs)
  }

  /** How far off the clocks of a device are at most. */
  #errorNsOf(device: string): bigint {
    let errorNs = 0n
    for (const { device: of, model } of this.#clocks.values()) {
      if (of !== device || model.anchor === undefined) continue
      const own = model.errorNs(model.anchor.ticks)
      if (own > errorNs) errorNs = own
    }
    return errorNs
  }

  #clockOf(device: string, clock: string, ticksPerSecond: number): ClockModel {
    const key = `${device}\n${clock}`
    const known = this.#clocks.get(key)?.model
    if (known !== undefined) return known
    const model = new ClockModel(ticksPerSecond)
    this.#clocks.set(key, { device, clock, model, told: undefined, toldMs: Number.NEGATIVE_INFINITY })
    return model
  }

  /** Sends records before the edge first; later records are in another batch. */
  #reportEdge(edge: SourceEdge): void {
    const { stats, onEdge } = this.#options
    if (!this.#edges.isChange(edge)) return
    const event = this.#edges.take(edge)
    if (event === undefined) {
      countDrop(stats, 'edge_limit', 1)
      return
    }
    this.source.emit()
    reportMark(this.source, { ...edge, event })
    this.source.emit()
    onEdge?.({ ...edge, event })
  }

  #reportClocks(): void {
    const nowMs = performance.now()
    for (const one of this.#clocks.values()) {
      const { anchor, ticksPerSecond } = one.model
      if (anchor === undefined || anchor === one.told || nowMs - one.toldMs < CLOCK_EVERY_MS) continue
      one.told = anchor
      one.toldMs = nowMs
      this.source.report(clockType, {
        time: wallNs(),
        device: one.device,
        clock: one.clock,
        device_ticks: anchor.ticks,
        ticks_per_second: ticksPerSecond,
        before_ns: anchor.beforeNs,
        after_ns: anchor.afterNs,
        // A counter near its end has run for longer than 63 bits hold: what is added to it wraps as it does.
        offset_ns: BigInt.asIntN(64, middleOf(anchor) + wallOffsetNs() - one.model.ticksNs(anchor.ticks)),
        error_ns: halfOf(anchor),
      })
    }
  }
}

/** What a source reports through: its records pass a guard. */
function guarded(source: Source, guard: RangeGuard): SourceReports {
  return {
    get info() {
      return source.info
    },
    get symbols() {
      return source.symbols
    },
    setPeriod: (type, period) => source.setPeriod(type, period),
    changePeriod: (device, changed) => source.changePeriod(device, changed),
    emit: () => source.emit(),
    flush: () => source.flush(),
    report(type, record) {
      const passed = guard.pass(type, record)
      if (passed !== undefined) source.report(type, passed)
    },
    reportPacked: (type, bytes, count) => source.report(type, bytes, count),
    pass: (type, record) => guard.pass(type, record),
  }
}
