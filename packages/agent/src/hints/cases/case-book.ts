import { byWeightNow, type Hint, type HintSeverity } from '@sonde/sdk/api'
import type { WhichNode } from '../device.ts'
import type { Rule } from '../rules/rule.ts'
import { Case } from './case.ts'
import type { Sighting } from './sighting.ts'

/** A moment in the life of a hint. */
export interface Edge {
  /** Number of the hint's event, of no other: when it opened, in nanoseconds. */
  readonly event: bigint
  /** `peak` comes with `ended`; a hint that never stood is `dismissed`. */
  readonly edge: 'opened' | 'confirmed' | 'peak' | 'ended' | 'dismissed'
  readonly timeMs: number
  readonly hint: Hint
  readonly value: number
}

/** How many hints a rule has open, has opened, and has lost, of one severity. */
export interface HintCount {
  readonly rule: string
  readonly severity: HintSeverity
  readonly open: number
  readonly opened: number
  /** Sightings without room for a case, and edges that nobody took in time. */
  readonly lost: number
}

/** Cases at a time: a rule on a device each. Further ones are not begun, and counted. */
const CASE_LIMIT = 1024
/** Hints that are over are kept for {@link ENDED_KEEP_MS}, and at most so many; the oldest leave first. */
const ENDED_LIMIT = 100
/** How long hints that are over are kept in memory. Unit: milliseconds. */
export const ENDED_KEEP_MS = 3_600_000
/** Edges that wait to be reported; the oldest leave first, and are counted. */
const EDGE_LIMIT = 1024
/** What is seen again so soon after Sonde was stopped is taken for the same. Unit: milliseconds. */
const SAME_MS = 120_000
/** Longest time that one evaluation counts for: what lies beyond was not looked at. */
const ELAPSED_MAX_MS = 2000

/** A hint that is over. */
interface Over {
  readonly hint: Hint
  /** Until when it was open: for a while after it ended, in case its rule held again. */
  readonly openToMs: number
}

/** Every case there is, the hints that are over, and what happened to them. */
export class CaseBook {
  /** Changes whenever the answer would, if only in its numbers. */
  version = 0
  /** Changes whenever a hint opens, begins to stand, or ends. */
  turns = 0
  readonly #cases = new Map<string, Case>()
  /** By rule and severity, as is the next. */
  readonly #opened = new Map<string, number>()
  readonly #lost = new Map<string, number>()
  #ended: Over[] = []
  #forgottenMs = 0
  #edges: Edge[] = []
  #nowMs = 0
  #lastEvent = 0n

  /** Whether no rule holds anywhere, and none did of late. */
  get isEmpty(): boolean {
    return this.#cases.size === 0
  }

  /** Whether a hint of the rule is open on the device. */
  isOpen(rule: string, device: string): boolean {
    return this.#cases.get(idOf(rule, device))?.isOpen === true
  }

  /** Whether the rule holds or is open on a device. */
  isExplaining(rule: string, device: string, isAlreadyOpen: boolean): boolean {
    const found = this.#cases.get(idOf(rule, device))
    return found !== undefined && (found.isOpen || (found.isSeenNow && !isAlreadyOpen))
  }

  /** Whether a hint of the rule was open in the last `withinMs` and is over, on a device that is meant. */
  hasEnded(rule: string, isMeant: (device: string) => boolean, withinMs: number): boolean {
    return this.#ended.some(
      ({ hint, openToMs }) => hint.rule === rule && isMeant(hint.device) && Math.abs(this.#nowMs - openToMs) < withinMs,
    )
  }

  /** Devices on which a rule has a case. */
  devicesOf(rule: string): string[] {
    return [...this.#cases.values()].filter((one) => one.rule.name === rule).map(({ device }) => device)
  }

  /** Whether anything worse than a notice is open on a node. */
  isTroubled(node: WhichNode): boolean {
    for (const one of this.#cases.values())
      if (one.isOpen && one.severity !== 'notice' && one.node === node) return true
    return false
  }

  /** Notes that a rule holds on a device. */
  see(rule: Rule, sighting: Sighting, nowMs: number): void {
    const id = idOf(rule.name, sighting.device.id)
    let found = this.#cases.get(id)
    if (found === undefined) {
      if (this.#cases.size >= CASE_LIMIT) {
        countUp(this.#lost, keyOf(rule.name, sighting.severity))
        return
      }
      found = new Case(rule, id, sighting, nowMs)
      this.#cases.set(id, found)
    }
    found.see(sighting)
  }

  /** Notes that a rule holds on a device no more, and that the trouble is not over. */
  goOn(rule: string, device: string): void {
    this.#cases.get(idOf(rule, device))?.goOn()
  }

  /** Nothing came since the evaluation before. */
  seeAgain(): void {
    for (const one of this.#cases.values()) one.seeAgain()
  }

  /** Ends a case at once: something else explains what it saw. */
  withdraw(rule: string, device: string, nowMs: number): void {
    const found = this.#cases.get(idOf(rule, device))
    if (found !== undefined) this.#end(found, nowMs)
  }

  /** Ends an evaluation. */
  advance(nowMs: number): void {
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

  /** Open hints: those whose rule holds before those that wait, the worst first, of equal ones the oldest. */
  hints(): Hint[] {
    const open = [...this.#cases.values()].filter((one) => one.isOpen).map((one) => one.hint())
    return open.sort(byWeightNow)
  }

  /** Hints that are over, the latest first. */
  ended(): readonly Hint[] {
    return this.#ended.map(({ hint }) => hint)
  }

  /** When the latest hint ended that left for want of room; 0 if none did. */
  get forgottenMs(): number {
    return this.#forgottenMs
  }

  /**
   * Takes hints of an earlier life that are over. One that was cut off goes on where its rule holds on the same device
   * again: it began when it did, and is the same event.
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
   * Hints that are open, and those that were opened and lost so far, by rule and severity: of each rule every severity
   * that it tells, from the start and for good, also where a hint left one for another.
   */
  counts(rules: readonly Rule[]): HintCount[] {
    const open = new Map<string, number>()
    for (const one of this.#cases.values()) if (one.isOpen) countUp(open, keyOf(one.rule.name, one.severity))
    const counts = rules.flatMap(({ name, severity, worse = severity }) =>
      [...new Set([severity, worse])].map((severity): [string, HintCount] => {
        const key = keyOf(name, severity)
        const [opened, lost] = [this.#opened.get(key) ?? 0, this.#lost.get(key) ?? 0]
        return [key, { rule: name, severity, open: open.get(key) ?? 0, opened, lost }]
      }),
    )
    // Two rules may share a name: one for GPUs, one for NICs.
    return [...new Map(counts).values()]
  }

  /** What happened since the last time it was asked. */
  takeEdges(): Edge[] {
    const edges = this.#edges
    this.#edges = []
    return edges
  }

  #open(one: Case, nowMs: number): void {
    countUp(this.#opened, keyOf(one.rule.name, one.severity))
    const openedNs = BigInt(Math.round(nowMs)) * 1_000_000n
    this.#lastEvent = openedNs > this.#lastEvent ? openedNs : this.#lastEvent + 1n
    one.event = this.#lastEvent
    this.#resume(one)
    this.#note(one, 'opened', nowMs)
  }

  #resume(one: Case): void {
    const isSame = ({ hint: { id, outcome, endedMs = 0 } }: Over) =>
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

  #keep(over: readonly Over[]): void {
    const all = [...over, ...this.#ended].sort((a, b) => (b.hint.endedMs ?? 0) - (a.hint.endedMs ?? 0))
    this.#ended = all.slice(0, ENDED_LIMIT)
    this.#forgottenMs = Math.max(this.#forgottenMs, all[ENDED_LIMIT]?.hint.endedMs ?? 0)
  }

  #note(one: Case, edge: Edge['edge'], timeMs: number, value?: number, hint = one.hint()): void {
    if (this.#edges.length >= EDGE_LIMIT) {
      this.#edges.shift()
      countUp(this.#lost, keyOf(one.rule.name, one.severity))
    }
    this.#edges.push({ event: one.event, edge, timeMs, hint, value: value ?? hint.value })
  }
}

function countUp(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1)
}

function keyOf(rule: string, severity: HintSeverity): string {
  return `${rule} ${severity}`
}

function idOf(rule: string, device: string): string {
  return `${rule}/${device}`
}
