import { type Batch, countDrop, counter, gauge, label, type Sink, type Source, sinkStats, timestamp } from '@sonde/sdk'
import type { Hint, HintsAnswer, HintsUnknown } from '@sonde/sdk/api'
import { defineOwnType, markType } from '@sonde/sdk/internal'
import { acceptBatch } from '../pipeline/accept-batch.ts'
import { CaseBook, ENDED_KEEP_MS } from './cases/case-book.ts'
import { makeSighting } from './cases/sighting.ts'
import { type HintDeviceLookup, NODES, type WhichNode } from './device.ts'
import { reportHint } from './history/hint-type.ts'
import { Pauses, spansWithin } from './history/pauses.ts'
import { STATED_EVERY_MS } from './history/window-hints.ts'
import { blindRules } from './inspection/blind.ts'
import type { Inspection } from './inspection/inspection.ts'
import type { Scope } from './inspection/scope.ts'
import { Scopes } from './inspection/scopes.ts'
import { RULES } from './rules/index.ts'
import { isPassed } from './rules/measure.ts'
import type { HintRule } from './rules/rule.ts'
import { SeriesWatch } from './watch/series-watch.ts'

export { RULES } from './rules/index.ts'

/**
 * Rules are evaluated this often. Sources have different phases, and a missing sample only shows with time. Unit:
 * milliseconds.
 */
export const ASK_EVERY_MS = 500
/** A timer may ring up to this much too early. Unit: milliseconds. */
const EARLY_MS = 50
const SWEEP_EVERY_MS = 60_000
/** How often the list of rules without signals is renewed. Unit: milliseconds. */
const JUDGE_EVERY_MS = 5000
/** A fault that lasts longer counts as the normal state of the node: past means move again. Unit: milliseconds. */
const FROZEN_MAX_MS = 3_600_000
const BEFORE_START = 'Sonde started then; earlier hints are not kept, or not read yet.'

/** Counts of hints, one row for each rule and severity. */
export const hintCountType = defineOwnType(
  'sonde_hints',
  'Hints by rule and severity',
  {
    time: timestamp(),
    rule: label('Rule that opened them'),
    severity: label('critical, warning or notice'),
    open: gauge('u64', { help: 'Hints that are open' }),
    opened_total: counter('u64', { help: 'Hints that were opened' }),
    lost_total: counter('u64', {
      help: 'Sightings beyond the limit of hints, and marks that were not reported in time',
    }),
  },
  { core: ['open', 'opened_total'] },
)

/** Called with the first failure of each rule. */
export type RuleFailed = (rule: string, error: unknown) => void

/** Options of {@link Hints}. */
export interface HintsOptions {
  readonly devices: HintDeviceLookup
  /** Default: every rule. */
  readonly rules?: readonly HintRule[]
  /**
   * Most windows of signals. Default: 8192, about 20 MB. Policy: further series are not watched, and their records are
   * counted as `window_limit`.
   */
  readonly windowLimit?: number
  /** Called with the first failure of each rule; later failures are only counted. Default: no call. */
  readonly ruleFailed?: RuleFailed
}

/**
 * Evaluates the rules of `rules/` on records. This sink keeps a short window of each signal that a rule names, and no
 * other data. It has no clock: time comes with the records and with `evaluate`, so a recorded day can be replayed in
 * seconds.
 */
export class Hints implements Sink {
  readonly name = 'hints'
  readonly stats = sinkStats()
  readonly #rules: readonly HintRule[]
  readonly #watch: SeriesWatch
  readonly #scopes: Scopes
  readonly #book = new CaseBook()
  readonly #pauses = new Pauses()
  #nowMs = 0
  #askedMs = 0
  #sweptMs = 0
  #judgedMs = Number.NEGATIVE_INFINITY
  /** Names of rules without a signal, from the last renewal. */
  #blind: readonly string[] = []
  #statedMs = 0
  #startedMs = 0
  /** Unknown time before the start; undefined until an earlier life was recalled. */
  #recalled: readonly HintsUnknown[] | undefined
  /** How long each node has had a fault. Unit: milliseconds. */
  readonly #troubledMs: Record<WhichNode, number> = { real: 0, simulated: 0 }
  readonly #ruleFailed: RuleFailed | undefined
  /** Rules with a reported failure. */
  readonly #failed = new Set<string>()
  #closed = false

  constructor({ devices, rules = RULES, windowLimit, ruleFailed }: HintsOptions) {
    this.#rules = rules
    this.#ruleFailed = ruleFailed
    this.#watch = new SeriesWatch(windowLimit)
    this.#scopes = new Scopes(devices, this.#watch, (rule, device) => this.#book.isOpen(rule, device))
  }

  /** Changes whenever the answer changes, even if only its numbers do. */
  get version(): number {
    return this.#book.version
  }

  /** Changes whenever a hint opens, is confirmed, or ends. */
  get turns(): number {
    return this.#book.turns
  }

  /** Whether a rule holds somewhere. If so, an evaluation between two rule evaluations gives earlier times. */
  get isHolding(): boolean {
    return !this.#book.isEmpty
  }

  /** Time of the first rule evaluation; 0 before it. Unit: milliseconds since the Unix epoch. */
  get startedMs(): number {
    return this.#startedMs
  }

  /** Takes the ended hints of earlier lives of the agent in the last hour, and the unknown times of that hour. */
  recall(ended: readonly Hint[], unknown: readonly HintsUnknown[]): void {
    this.#book.recall(ended)
    this.#recalled = unknown
  }

  accept(batch: Batch): void {
    acceptBatch(this.stats, batch, this.#closed ? undefined : (batch) => this.#take(batch))
  }

  async flush(): Promise<void> {
    // The next evaluation includes every accepted record, so there is nothing to wait for.
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#watch.clear()
  }

  /**
   * Evaluates every rule. The time counts as spent by the sink. `monotonicMs` comes from a monotonic clock and
   * separates a stopped process from a clock that was set. Default: `nowMs`.
   */
  evaluate(nowMs: number, monotonicMs = nowMs): void {
    if (this.#closed) return
    this.#pauses.pass(nowMs, monotonicMs)
    const startedMs = performance.now()
    if (this.#startedMs === 0) this.#startedMs = nowMs
    this.#watch.nowMs = nowMs
    if (Math.abs(nowMs - this.#askedMs) >= ASK_EVERY_MS - EARLY_MS) this.#askAll(nowMs)
    // Between rule evaluations, the last results still hold.
    else this.#book.seeAgain()
    this.#book.advance(nowMs)
    this.#freeze(Math.max(0, nowMs - this.#nowMs))
    this.#nowMs = nowMs
    if (Math.abs(nowMs - this.#sweptMs) > SWEEP_EVERY_MS) {
      this.#sweptMs = nowMs
      this.#watch.sweep(nowMs)
    }
    this.stats.seconds += (performance.now() - startedMs) / 1000
  }

  /** The hints of the last evaluation and the hints that ended in the last hour. */
  answer(): HintsAnswer {
    const toMs = this.#nowMs
    const fromMs = toMs - ENDED_KEEP_MS
    return {
      nowMs: toMs,
      rules: new Set(this.#rules.map(({ name }) => name)).size,
      blind: this.#blind,
      ...{ fromMs, toMs, hints: this.#book.hints(), ended: this.#book.ended() },
      unknown: this.#unknownSince(fromMs),
    }
  }

  #unknownSince(fromMs: number): HintsUnknown[] {
    const { forgottenMs } = this.#book
    const before = this.#recalled ?? [{ fromMs, toMs: this.#startedMs, reason: BEFORE_START }]
    const forgotten = { fromMs, toMs: forgottenMs, reason: 'Too many hints ended since then; request a window.' }
    const all = forgottenMs > fromMs ? [forgotten, ...before] : before
    const known = all.filter(({ toMs }) => toMs - fromMs >= 1000)
    return spansWithin([...known, ...this.#pauses.spans()], fromMs, this.#nowMs)
  }

  /** Times of this life without rule evaluations, in their order. */
  get pauses(): readonly HintsUnknown[] {
    return this.#pauses.spans()
  }

  /** Reports the edges of hints since the last report, as marks and in full. */
  reportEdges(source: Source): void {
    const edges = this.#book.takeEdges()
    for (const { event, edge, timeMs, hint, value } of edges) {
      const { rule, device, severity, limit, unit, title: summary } = hint
      const time = BigInt(Math.round(timeMs)) * 1_000_000n
      source.report(markType, { time, rule, device, event, edge, severity, value, limit, unit, summary })
      if (edge !== 'peak') reportHint(source, hint, edge, timeMs)
    }
    if (edges.length > 0) source.flush()
  }

  /**
   * Reports edges, and the counts of hints. Open hints are stated every minute, and once more when Sonde stops.
   */
  report(source: Source, { isLast = false }: { readonly isLast?: boolean } = {}): void {
    this.reportEdges(source)
    if (isLast || Math.abs(this.#nowMs - this.#statedMs) >= STATED_EVERY_MS) {
      this.#statedMs = this.#nowMs
      for (const hint of this.#book.hints()) reportHint(source, hint, 'holds', this.#nowMs)
    }
    this.#pauses.report(source, this.#nowMs)
    for (const { rule, severity, open, opened, lost } of this.#book.counts(this.#rules)) {
      const row = source.bind(hintCountType, { rule, severity })
      row.gauge('open').set(open)
      row.counter('opened_total').set(opened)
      row.counter('lost_total').set(lost)
    }
    source.flush()
  }

  #take(batch: Batch): number {
    // Rules are about the present node. Records of applications and of files are not.
    if (batch.origin !== 'own') return 0
    const refused = this.#watch.take(batch)
    countDrop(this.stats, 'window_limit', refused)
    return refused
  }

  /** Past means stop only on a node with a fault. */
  #freeze(elapsedMs: number): void {
    for (const node of NODES) {
      const troubledMs = this.#book.isTroubled(node) ? this.#troubledMs[node] + elapsedMs : 0
      this.#troubledMs[node] = troubledMs
      if (troubledMs > 0 && troubledMs < FROZEN_MAX_MS) this.#watch.frozen.add(node)
      else this.#watch.frozen.delete(node)
    }
  }

  #askAll(nowMs: number): void {
    this.#askedMs = nowMs
    const scopes = this.#scopes.at(nowMs)
    if (Math.abs(nowMs - this.#judgedMs) >= JUDGE_EVERY_MS) {
      this.#judgedMs = nowMs
      this.#blind = blindRules(this.#rules, scopes)
    }
    for (const scope of scopes) for (const rule of this.#rules) this.#tryToAsk(rule, scope)
  }

  /** A failing rule is a bug of Sonde. It is counted and reported once, and the other rules continue. */
  #tryToAsk(rule: HintRule, scope: Scope): void {
    try {
      this.#ask(rule, scope)
    } catch (error) {
      this.stats.errors++
      if (this.#failed.has(rule.name)) return
      this.#failed.add(rule.name)
      this.#ruleFailed?.(rule.name, error)
    }
  }

  #ask(rule: HintRule, scope: Scope): void {
    for (const inspection of inspectionsFor(rule, scope)) {
      inspection.newestMs = Number.NEGATIVE_INFINITY
      const found = rule.find(inspection)
      // A finding counts only if its number passed its limit.
      const finding = found !== undefined && isPassed(found.measure) ? found : undefined
      if (finding === undefined && !this.#goesOn(rule, inspection)) continue
      if (Object.values(rule.not).some((isAlike) => isAlike(inspection))) continue
      const { id } = finding?.device ?? inspection.device
      if (this.#isExplained(rule, id, scope)) this.#book.withdraw(rule.name, id, scope.nowMs)
      else if (finding === undefined) this.#book.goOn(rule.name, id)
      else this.#book.see(rule, makeSighting(rule, finding, inspection), scope.nowMs)
    }
  }

  /** Whether the fault of an open hint continues although the rule does not hold. */
  #goesOn({ name, goesOn }: HintRule, inspection: Inspection): boolean {
    return goesOn !== undefined && this.#book.isOpen(name, inspection.device.id) && goesOn.holds(inspection)
  }

  #isExplained({ name, explainedBy = {}, looksBackMs = 0 }: HintRule, device: string, scope: Scope): boolean {
    const isOpen = this.#book.isOpen(name, device)
    return Object.entries(explainedBy).some(([other, where]) => {
      const isThere = (place: string) => (where === 'node' ? scope.has(place) : place === device)
      if (looksBackMs > 0 && this.#book.hasEnded(other, isThere, looksBackMs)) return true
      const places = this.#book.devicesOf(other).filter(isThere)
      return places.some(
        (place) =>
          this.#book.isExplaining(other, place, isOpen) &&
          (where === 'device' || this.#stillExplains(other, place, scope)),
      )
    })
  }

  /** Whether the subject of a hint still affects other devices. */
  #stillExplains(rule: string, place: string, scope: Scope): boolean {
    const { stillExplains } = this.#rules.find(({ name }) => name === rule) ?? {}
    const inspection = scope.at(place)
    return stillExplains === undefined || inspection === undefined || stillExplains(inspection)
  }
}

function inspectionsFor(rule: HintRule, scope: Scope): readonly Inspection[] {
  if (rule.of === 'gpu') return scope.gpus
  if (rule.of === 'nic') return scope.nics
  if (rule.of === 'port') return scope.ports
  return [scope.of(scope.node)]
}
