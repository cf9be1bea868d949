import type { ReadRecord, RecordType } from '@sonde/sdk'
import type { ScenarioRequest } from '@sonde/sdk/api'
import { NODE_CLASSES } from '../classes/classes.ts'
import type { NodeClass } from '../classes/node-class.ts'
import type { Effects } from '../effects.ts'
import { numberOf, TestReport } from '../test-report.ts'
import { type Played, ScenarioBook } from './book.ts'

/** Time at which tests set their scenarios, in seconds of the simulation, and the time of the onset. */
export const SET_S = 2.6e7
export const ONSET_S = SET_S + 1000
/** Length of means: several steps. */
const OVER_S = 21

/** Replaces a simulation in tests that check only the effects. */
export class PlayedNode implements Played {
  readonly node: NodeClass
  readonly seed: number
  effects: readonly Effects[] = []

  constructor(node: NodeClass, seed = 1) {
    this.node = node
    this.seed = seed
  }

  setEffects(effects: readonly Effects[]): void {
    this.effects = effects
  }

  /** Forgets nothing. */
  forget(): number {
    return 0
  }
}

/** A simulated node with scenarios for tests. Times count from their onset and are negative before it. */
export class StruckNode {
  readonly report: TestReport
  readonly #taken = new Map<number, <T extends RecordType>(type: T) => ReadonlyMap<string, ReadRecord>>()

  constructor(requests: readonly ScenarioRequest[], nodeClass = 'hgx-h100', { hasAbsences = false } = {}) {
    const node: NodeClass = NODE_CLASSES.find(({ name }) => name === nodeClass) ?? NODE_CLASSES[0]
    const played = new PlayedNode(node)
    const book = new ScenarioBook(played)
    for (const request of requests) book.start({ delayS: ONSET_S - SET_S, ...request }, SET_S)
    const { effects } = played
    // The window of profiling values is the interval.
    this.report = new TestReport({ node: nodeClass, effects, intervalMs: OVER_S * 1000, hasAbsences })
  }

  /**
   * The record of a series, by the start of its labels' values; undefined if there is none. If its source missed the
   * sample, the record of a second later is returned.
   */
  record(type: RecordType, series: string, t: number): ReadRecord | undefined {
    return this.#find(type, series, t) ?? this.#find(type, series, t + 1)
  }

  #find(type: RecordType, series: string, t: number): ReadRecord | undefined {
    let records = this.#taken.get(t)
    if (records === undefined) {
      records = this.report.at(ONSET_S + t)
      this.#taken.set(t, records)
    }
    for (const [key, record] of records(type)) if (key === series || key.startsWith(`${series}/`)) return record
    return undefined
  }

  /** A value at a time; NaN if it is absent. */
  value(type: RecordType, series: string, field: string, t: number): number {
    return numberOf(this.record(type, series, t), field)
  }

  /** Mean growth of a counter per second, over the {@link OVER_S} before a time. */
  rate(type: RecordType, series: string, field: string, t: number): number {
    return this.gain(type, series, field, t - OVER_S, t) / OVER_S
  }

  /** Growth of a counter between two times; a series that does not exist yet counts as 0. */
  gain(type: RecordType, series: string, field: string, fromT: number, toT: number): number {
    const before = this.record(type, series, fromT) === undefined ? 0 : this.value(type, series, field, fromT)
    return this.value(type, series, field, toT) - before
  }
}
