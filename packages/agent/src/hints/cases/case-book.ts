import { byWeightNow, type Hint, type HintSeverity } from '@sonde/sdk/api'
import type { WhichNode } from '../device.ts'
import type { HintRule } from '../rules/rule.ts'
import { Case } from './case.ts'
import type { RuleSighting } from './sighting.ts'

/** A moment in the life of a hint. */
export interface HintEdge {
  /** Number of the hint's event: the time of opening in nanoseconds. Every event has a different number. */
  readonly event: bigint
  /** `peak` comes together with `ended`. A hint that was never confirmed is `dismissed`. */
  readonly edge: 'opened' | 'confirmed' | 'peak' | 'ended' | 'dismissed'
  readonly timeMs: number
  readonly hint: Hint
  readonly value: number
}

/** Open, opened and lost hints of a rule at one severity. */
export interface HintCount {
  readonly rule: string
  readonly severity: HintSeverity
  readonly open: number
  readonly opened: number
  /** Sightings beyond the limit of cases, and edges that were not reported in time. */
  readonly lost: number
}

/** Most cases at a time; a case is a rule on a device. Further cases are refused and counted. */
const CASE_LIMIT = 1024
/** Ended hints are kept for {@link ENDED_KEEP_MS}, at most this many. The oldest are dropped first. */
const ENDED_LIMIT = 100
/** How long ended hints stay in memory. Unit: milliseconds. */
export const ENDED_KEEP_MS = 3_600_000
/** Most edges that wait to be reported. The oldest are dropped first and counted. */
const EDGE_LIMIT = 1024
/** A rule that holds again this soon after a restart of Sonde continues its earlier hint. Unit: milliseconds. */
const SAME_MS = 120_000
/** A smaller step back of the clock is a correction. Unit: milliseconds. */
const BACK_LEAST_MS = 1000
/** Longest time that one evaluation counts for. Nothing was evaluated beyond it. */
const ELAPSED_MAX_MS = 2000

/** An ended hint. */
interface EndedHint {
  readonly hint: Hint
  /** End of the open state. A hint stays open for a while after its end, in case its rule holds again. */
  readonly openToMs: number
}

/** All cases, the ended hints, and the edges of both. */
export class CaseBook {
  /** Changes whenever the answer changes, even if only its numbers do. */
  version = 0
  /** Changes whenever a hint opens, is confirmed, or ends. */
  turns = 0
  readonly #cases = new Map<string, Case>()
  /** By rule and severity, as `#lost`. */
  readonly #opened = new Map<string, number>()
  readonly #lost = new Map<string, number>()
  #ended: EndedHint[] = []
  #forgottenMs = 0
  #edges: HintEdge[] = []
  #nowMs = 0
  #lastEvent = 0n

  /** Whether no rule holds anywhere, or held recently. */
  get isEmpty(): boolean {
    return this.#cases.size === 0
  }

  /** Whether a hint of the rule is open on the device. */
  isOpen(rule: string, device: string): boolean {
    return this.#cases.get(caseId(rule, device))?.isOpen === true
  }

  /** Whether the rule holds or is open on a device. */
  isExplaining(rule: string, device: string, isAlreadyOpen: boolean): boolean {
    const found = this.#cases.get(caseId(rule, device))
    return found !== undefined && (found.isOpen || (found.isSeenNow && !isAlreadyOpen))
  }

  /** Whether a hint of the rule ended in the last `withinMs`, on a device that `isMeant` accepts. */
  hasEnded(rule: string, isMeant: (device: string) => boolean, withinMs: number): boolean {
    return this.#ended.some(
      ({ hint, openToMs }) => hint.rule === rule && isMeant(hint.device) && Math.abs(this.#nowMs - openToMs) < withinMs,
    )
  }

  /** Devices on which a rule has a case. */
  devicesOf(rule: string): string[] {
    return [...this.#cases.values()].filter((one) => one.rule.name === rule).map(({ device }) => device)
  }

  /** Whether a hint worse than a notice is open on a node. */
  isTroubled(node: WhichNode): boolean {
    for (const one of this.#cases.values())
      if (one.isOpen && one.severity !== 'notice' && one.node === node) return true
    return false
  }

  /** Notes that a rule holds on a device. */
  see(rule: HintRule, sighting: RuleSighting, nowMs: number): void {
    this.#setBack(nowMs)
    const id = caseId(rule.name, sighting.device.id)
    let found = this.#cases.get(id)
    if (found === undefined) {
      if (this.#cases.size >= CASE_LIMIT) {
        countUp(this.#lost, countKey(rule.name, sighting.severity))
        return
      }
      found = new Case(rule, id, sighting, nowMs)
      this.#cases.set(id, found)
    }
    found.see(sighting)
  }

  /** Notes that a rule no longer holds on a device, but the fault continues. */
  goOn(rule: string, device: string): void {
    this.#cases.get(caseId(rule, device))?.goOn()
  }

  /** No samples arrived since the last evaluation. */
  seeAgain(): void {
    for (const one of this.#cases.values()) one.seeAgain()
  }

  /** Ends a case at once, because another rule explains it. */
  withdraw(rule: string, device: string, nowMs: number): void {
    const found = this.#cases.get(caseId(rule, device))
    if (found !== undefined) this.#end(found, nowMs)
  }

  /** Ends an evaluation. */
  advance(nowMs: number): void {
    this.#setBack(nowMs)
    const elapsedMs = Math.min(Math.max(0, nowMs - this.#nowMs), ELAPSED_MAX_MS)
    this.#nowMs = nowMs
    for (const one of this.#cases.values()) {
      const { isOpen: wasOpen, stage } = one
      if (!one.advance(elapsedMs, nowMs)) this.#end(one, nowMs)
      else if (!wasOpen && one.isOpen) this.#open(one, nowMs)
      if (one.stage === 'standing' && stage !== 'standing') this.#note(one, 'confirmed', nowMs)
      if (wasOpen || one.isOpen) this.version++
      if (one.isOpen && one.stage !== stage) this.turns++
    }
    const kept = this.#ended.filter(({ hint: { endedMs = 0 } }) => Math.abs(nowMs - endedMs) < ENDED_KEEP_MS)
    if (kept.length === this.#ended.length) return
    this.#ended = kept
    this.version++
  }

  /** Open hints. Hints whose rule holds come first, then by severity, then by age. */
  hints(): Hint[] {
    const open = [...this.#cases.values()].filter((one) => one.isOpen).map((one) => one.hint())
    return open.sort(byWeightNow)
  }

  /** Ended hints, the latest first. */
  ended(): readonly Hint[] {
    return this.#ended.map(({ hint }) => hint)
  }

  /** End of the latest hint that was dropped because of {@link ENDED_LIMIT}; 0 if none was. */
  get forgottenMs(): number {
    return this.#forgottenMs
  }

  /**
   * Takes ended hints of an earlier life. A hint that was cut off continues if its rule holds on the same device again:
   * it keeps its start and its event.
   */
  recall(hints: readonly Hint[]): void {
    const known = new Set(this.#ended.map(({ hint }) => hint.event))
    const fresh = hints.filter(({ event }) => !known.has(event))
    this.#keep(fresh.map((hint) => ({ hint, openToMs: hint.endedMs ?? 0 })))
    for (const one of this.#cases.values()) if (one.isOpen) this.#resume(one)
    this.version++
    this.turns++
  }

  /**
   * Open, opened and lost hints by rule and severity. Every severity of each rule is present from the start, even
   * without hints.
   */
  counts(rules: readonly HintRule[]): HintCount[] {
    const open = new Map<string, number>()
    for (const one of this.#cases.values()) if (one.isOpen) countUp(open, countKey(one.rule.name, one.severity))
    const counts = rules.flatMap(({ name, severity, worse = severity }) =>
      [...new Set([severity, worse])].map((severity): [string, HintCount] => {
        const key = countKey(name, severity)
        const [opened, lost] = [this.#opened.get(key) ?? 0, this.#lost.get(key) ?? 0]
        return [key, { rule: name, severity, open: open.get(key) ?? 0, opened, lost }]
      }),
    )
    // Two rules may have the same name: one for GPUs, one for NICs.
    return [...new Map(counts).values()]
  }

  /** Returns the edges since the last call. */
  takeEdges(): HintEdge[] {
    const edges = this.#edges
    this.#edges = []
    return edges
  }

  /** Cases that are known keep their length when the clock is set back: their times are set back too. */
  #setBack(nowMs: number): void {
    const backMs = this.#nowMs - nowMs
    if (backMs < BACK_LEAST_MS) return
    this.#nowMs = nowMs
    for (const one of this.#cases.values()) one.setBack(backMs)
  }

  #open(one: Case, nowMs: number): void {
    countUp(this.#opened, countKey(one.rule.name, one.severity))
    const openedNs = BigInt(Math.round(nowMs)) * 1_000_000n
    this.#lastEvent = openedNs > this.#lastEvent ? openedNs : this.#lastEvent + 1n
    one.event = this.#lastEvent
    this.#resume(one)
    this.#note(one, 'opened', nowMs)
  }

  #resume(one: Case): void {
    const isSame = ({ hint: { id, outcome, endedMs = 0 } }: EndedHint) =>
      id === one.id && outcome === 'cut' && one.sinceMs >= endedMs && one.sinceMs - endedMs < SAME_MS
    const earlier = this.#ended.find(isSame)
    if (earlier === undefined) return
    this.#ended = this.#ended.filter((over) => over !== earlier)
    one.resume(BigInt(earlier.hint.event), earlier.hint.sinceMs)
  }

  #end(one: Case, nowMs: number): void {
    this.#cases.delete(one.id)
    if (!one.isOpen) return
    this.version++
    this.turns++
    const isSure = one.stage === 'standing'
    const outcome = isSure ? 'ended' : 'dismissed'
    const hint = one.hint(outcome)
    this.#keep([{ hint, openToMs: nowMs }])
    if (isSure) this.#note(one, 'peak', one.peak.timeMs, one.peak.value)
    this.#note(one, outcome, nowMs, undefined, hint)
  }

  #keep(over: readonly EndedHint[]): void {
    const all = [...over, ...this.#ended].sort((a, b) => (b.hint.endedMs ?? 0) - (a.hint.endedMs ?? 0))
    this.#ended = all.slice(0, ENDED_LIMIT)
    this.#forgottenMs = Math.max(this.#forgottenMs, all[ENDED_LIMIT]?.hint.endedMs ?? 0)
  }

  #note(one: Case, edge: HintEdge['edge'], timeMs: number, value?: number, hint = one.hint()): void {
    if (this.#edges.length >= EDGE_LIMIT) {
      this.#edges.shift()
      countUp(this.#lost, countKey(one.rule.name, one.severity))
    }
    this.#edges.push({ event: one.event, edge, timeMs, hint, value: value ?? hint.value })
  }
}

function countUp(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1)
}

function countKey(rule: string, severity: HintSeverity): string {
  return `${rule} ${severity}`
}

function caseId(rule: string, device: string): string {
  return `${rule}/${device}`
}
