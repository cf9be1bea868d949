import type { Hint, HintOutcome, HintSeverity } from '@sonde/sdk/api'
import { type WhichNode, whichNode } from '../device.ts'
import { roundedValue } from '../rules/measure.ts'
import type { HintRule } from '../rules/rule.ts'
import { isWorse, type RuleSighting } from './sighting.ts'

const VOTE_MASK = 0b11111
const VOTES_NEEDED = 3
/** How long a hint stays open after its rule last held, unless the rule has its own time. */
export const LINGER_MS = 5000
/** After this time without holding, a rule no longer holds. Samples come once a second, and one may be missed. */
const UNSEEN_MS = 2000

/** A sighting with the time of its numbers. Unit: milliseconds since the Unix epoch. */
interface TimedSighting {
  readonly sighting: RuleSighting
  readonly timeMs: number
}

/**
 * One rule on one device, from the first time it holds until its hint ends. A hint forms when the rule held in 3 of 5
 * evaluations and on at least two samples. It is confirmed when the rule held for the rule's time. Time is the sum of
 * the times between evaluations, so a step of the clock neither confirms nor ends a hint.
 */
export class Case {
  readonly rule: HintRule
  readonly id: string
  stage: 'seen' | 'forming' | 'standing' = 'seen'
  sinceMs: number
  /** Number of its event; 0 until it opens. */
  event = 0n
  /** The latest sighting. */
  #sighting: RuleSighting
  /** The worst sighting. */
  #peak: TimedSighting
  #votes = 0
  #firstSampleMs: number
  #isSeenNow = false
  /** Whether the fault continues at the current evaluation although the rule does not hold. */
  #isGoingOn = false
  #wasSeen = false
  #wasGoingOn = false
  #heldMs = 0
  /** Time since the rule held or the fault continued. Unit: milliseconds. */
  #idleMs = 0
  #seenMs: number

  constructor(rule: HintRule, id: string, sighting: RuleSighting, nowMs: number) {
    this.rule = rule
    this.id = id
    this.#sighting = sighting
    this.#firstSampleMs = sighting.sampleMs
    this.sinceMs = Math.round(Number.isFinite(sighting.sampleMs) ? sighting.sampleMs : nowMs)
    this.#seenMs = Math.round(nowMs)
    this.#peak = { sighting, timeMs: this.sinceMs }
  }

  /** Whether the rule held at the current evaluation. */
  get isSeenNow(): boolean {
    return this.#isSeenNow
  }

  get isOpen(): boolean {
    return this.stage !== 'seen'
  }

  get severity(): HintSeverity {
    return this.#sighting.severity
  }

  get device(): string {
    return this.#sighting.device.id
  }

  get node(): WhichNode {
    return whichNode(this.#sighting.device)
  }

  /** Value and time of the worst sighting. */
  get peak(): { readonly value: number; readonly timeMs: number } {
    return { value: this.#peak.sighting.finding.measure.value, timeMs: this.#peak.timeMs }
  }

  get #neededMs(): number {
    return this.#sighting.finding.neededMs ?? this.rule.neededMs
  }

  /** The rule holds at this evaluation. */
  see(sighting: RuleSighting): void {
    this.#sighting = sighting
    if (isWorse(sighting, this.#peak.sighting))
      this.#peak = {
        sighting,
        timeMs: Number.isFinite(sighting.sampleMs) ? Math.round(sighting.sampleMs) : this.sinceMs,
      }
    this.#isSeenNow = true
  }

  /** The rule does not hold at this evaluation, but the fault continues. */
  goOn(): void {
    this.#isGoingOn = true
  }

  /** The case continues an earlier event and keeps its start. */
  resume(event: bigint, sinceMs: number): void {
    this.event = event
    this.sinceMs = sinceMs
  }

  /** No samples arrived since the last evaluation, so its result still holds. */
  seeAgain(): void {
    this.#isSeenNow = this.#wasSeen
    this.#isGoingOn = this.#wasGoingOn
  }

  /** The clock was set back. */
  setBack(backMs: number): void {
    this.sinceMs -= backMs
    this.#seenMs -= backMs
    this.#peak = { ...this.#peak, timeMs: this.#peak.timeMs - backMs }
  }

  /** Ends an evaluation. Returns `false` if the case ended. */
  advance(elapsedMs: number, nowMs: number): boolean {
    const wasSeen = this.#isSeenNow
    const goesOn = wasSeen || this.#isGoingOn
    if (wasSeen) this.#seenMs = Math.round(nowMs)
    this.#wasSeen = wasSeen
    this.#wasGoingOn = this.#isGoingOn
    const isFirst = this.#votes === 0 && this.stage === 'seen'
    this.#isSeenNow = false
    this.#isGoingOn = false
    this.#votes = ((this.#votes << 1) | (goesOn ? 1 : 0)) & VOTE_MASK
    this.#idleMs = goesOn ? 0 : this.#idleMs + elapsedMs
    const isHeld = bitCount(this.#votes) >= VOTES_NEEDED
    if (!isFirst && (goesOn || isHeld)) this.#heldMs += elapsedMs
    if (this.stage === 'seen') {
      const isSampledTwice = this.#sighting.sampleMs !== this.#firstSampleMs
      if (wasSeen && (this.rule.isEvent === true || (isHeld && isSampledTwice))) this.stage = 'forming'
      else if (this.#votes === 0) return false
    }
    const { isSure = true } = this.#sighting.finding
    if (this.stage === 'forming' && wasSeen && isSure && this.#heldMs >= this.#neededMs) this.stage = 'standing'
    return this.stage === 'seen' || this.#idleMs < this.#lingerMs
  }

  get #lingerMs(): number {
    return this.rule.lingerMs ?? LINGER_MS
  }

  /** The stage of an open hint shows whether its rule still holds. */
  get #toldStage(): Hint['stage'] {
    if (this.stage !== 'standing') return 'forming'
    return this.#idleMs > UNSEEN_MS ? 'lingering' : 'standing'
  }

  /** The hint of a case. With an outcome, the case has ended: its end is the last time that the rule held. */
  hint(outcome?: HintOutcome): Hint {
    // An ended hint shows its worst numbers, because the last numbers are close to the limit.
    const { sighting, timeMs } = outcome === undefined ? { sighting: this.#sighting, timeMs: this.#seenMs } : this.#peak
    const { finding, severity, sentence, device, evidence, lacks } = sighting
    const { title, measure, affected = [] } = finding
    const { comparator, limit, unit } = measure
    const seenMs = Math.max(this.#seenMs, this.sinceMs)
    return {
      id: this.id,
      event: String(this.event),
      rule: this.rule.name,
      severity,
      stage: outcome === 'ended' ? 'standing' : this.#toldStage,
      device: device.id,
      sinceMs: this.sinceMs,
      seenMs,
      measuredMs: timeMs,
      ...(outcome === undefined ? {} : { endedMs: seenMs, outcome }),
      neededMs: this.#neededMs,
      title,
      sentence,
      value: roundedValue(measure),
      comparator,
      limit,
      unit,
      evidence,
      affected: affected.map(({ id }) => id),
      lacks,
    }
  }
}

function bitCount(bits: number): number {
  let count = 0
  for (let rest = bits; rest !== 0; rest >>>= 1) count += rest & 1
  return count
}
