import type { Hint, HintOutcome, HintSeverity } from '@sonde/sdk/api'
import { nodeOf, type WhichNode } from '../device.ts'
import { roundedValue } from '../rules/measure.ts'
import type { Rule } from '../rules/rule.ts'
import { isWorse, type Sighting } from './sighting.ts'

const VOTE_MASK = 0b11111
const VOTES_NEEDED = 3
/** How long a hint stays open after its rule held last, where the rule says nothing else. */
export const LINGER_MS = 5000
/** A rule that has not held for so long holds no more: samples come once a second, and one may be missed. */
const UNSEEN_MS = 2000

/** A sighting, and when its numbers were so. Unit: milliseconds since the Unix epoch. */
interface Seen {
  readonly sighting: Sighting
  readonly timeMs: number
}

/**
 * One rule on one device, from the first time it held until it is over. It forms once the rule held in 3 of 5
 * evaluations, on two samples at least, and stands once it has held for as long as the rule says. Time is what passes
 * between evaluations, so that a step of the clock neither ripens nor ends it.
 */
export class Case {
  readonly rule: Rule
  readonly id: string
  stage: 'seen' | 'forming' | 'standing' = 'seen'
  sinceMs: number
  /** Number of its event; 0 until it opens. */
  event = 0n
  /** The latest sighting. */
  #sighting: Sighting
  /** The worst sighting. */
  #peak: Seen
  #votes = 0
  #firstSampleMs: number
  #isSeenNow = false
  /** Whether it goes on at the evaluation in hand, though its rule does not hold. */
  #isGoingOn = false
  #wasSeen = false
  #wasGoingOn = false
  #heldMs = 0
  /** Time since it held or went on. Unit: milliseconds. */
  #idleMs = 0
  #seenMs: number

  constructor(rule: Rule, id: string, sighting: Sighting, nowMs: number) {
    this.rule = rule
    this.id = id
    this.#sighting = sighting
    this.#firstSampleMs = sighting.sampleMs
    this.sinceMs = Math.round(Number.isFinite(sighting.sampleMs) ? sighting.sampleMs : nowMs)
    this.#seenMs = Math.round(nowMs)
    this.#peak = { sighting, timeMs: this.sinceMs }
  }

  /** Whether the rule held at the evaluation in hand. */
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
    return nodeOf(this.#sighting.device)
  }

  /** The value of its worst sighting, and when that was. */
  get peak(): { readonly value: number; readonly timeMs: number } {
    return { value: this.#peak.sighting.finding.measure.value, timeMs: this.#peak.timeMs }
  }

  get #neededMs(): number {
    return this.#sighting.finding.neededMs ?? this.rule.neededMs
  }

  /** The rule holds at this evaluation. */
  see(sighting: Sighting): void {
    this.#sighting = sighting
    if (isWorse(sighting, this.#peak.sighting))
      this.#peak = {
        sighting,
        timeMs: Number.isFinite(sighting.sampleMs) ? Math.round(sighting.sampleMs) : this.sinceMs,
      }
    this.#isSeenNow = true
  }

  /** The rule does not hold at this evaluation, and the trouble is not over. */
  goOn(): void {
    this.#isGoingOn = true
  }

  /** It is the same as an event of before: it began when that did. */
  resume(event: bigint, sinceMs: number): void {
    this.event = event
    this.sinceMs = sinceMs
  }

  /** Nothing came since the evaluation before: what held then still does. */
  seeAgain(): void {
    this.#isSeenNow = this.#wasSeen
    this.#isGoingOn = this.#wasGoingOn
  }

  /** Ends an evaluation; `false` if the case is over. */
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

  /** What is open says whether its rule still holds. */
  get #toldStage(): Hint['stage'] {
    if (this.stage !== 'standing') return 'forming'
    return this.#idleMs > UNSEEN_MS ? 'lingering' : 'standing'
  }

  /** The hint of an open case; with an outcome, of a case that is over: it ended when its rule held last. */
  hint(outcome?: HintOutcome): Hint {
    // The numbers of a hint that is over are those of its worst moment: the last ones hardly passed the limit.
    const { sighting, timeMs } = outcome === undefined ? { sighting: this.#sighting, timeMs: this.#seenMs } : this.#peak
    const { finding, severity, sentence, device, evidence, lacks } = sighting
    const { title, measure, affected = [] } = finding
    const { comparator, limit, unit } = measure
    return {
      id: this.id,
      event: String(this.event),
      rule: this.rule.name,
      severity,
      stage: outcome === 'ended' ? 'standing' : this.#toldStage,
      device: device.id,
      sinceMs: this.sinceMs,
      seenMs: this.#seenMs,
      measuredMs: timeMs,
      ...(outcome === undefined ? {} : { endedMs: this.#seenMs, outcome }),
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
