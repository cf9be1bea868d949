import type { ReadRecord, RecordType } from '@sonde/sdk'
import type { ScenarioRequest } from '@sonde/sdk/api'
import { NODE_CLASSES } from '../classes/classes.ts'
import type { NodeClass } from '../classes/node-class.ts'
import type { Effects } from '../effects.ts'
import { numberOf, TestReport } from '../test-report.ts'
import { type Played, ScenarioBook } from './book.ts'

/** When tests set their scenarios, in seconds of the simulation, and when these begin. */
export const SET_S = 2.6e7
export const ONSET_S = SET_S + 1000
/** Means are taken over this long: several steps. */
const OVER_S = 21

/** What stands for a simulation where only the effects matter. */
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

  /** Keeps everything. */
  forget(): number {
    return 0
  }
}

/**
 * A simulated node in the hands of a test, on which scenarios were started; time counts from their onset, and is
 * negative before it.
 */
export class StruckNode {
  readonly report: TestReport
  readonly #taken = new Map<number, <T extends RecordType>(type: T) => ReadonlyMap<string, ReadRecord>>()

  constructor(requests: readonly ScenarioRequest[], nodeClass = 'hgx-h100') {
    const node: NodeClass = NODE_CLASSES.find(({ name }) => name === nodeClass) ?? NODE_CLASSES[0]
    const played = new PlayedNode(node)
    const book = new ScenarioBook(played)
    for (const request of requests) book.start({ delayS: ONSET_S - SET_S, ...request }, SET_S)
    const { effects } = played
    // The interval is the window of profiling values.
    this.report = new TestReport({ node: nodeClass, effects, intervalMs: OVER_S * 1000 })
  }

  /**
   * The record of a series, by the start of its labels' values; undefined if there is none. A sample that its source
   * misses is read a second later.
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

  /** Mean growth of a counter in the {@link OVER_S} before a time, a second. */
  rate(type: RecordType, series: string, field: string, t: number): number {
    return this.gain(type, series, field, t - OVER_S, t) / OVER_S
  }

  /** Growth of a counter from one time to another; a series that is not there yet has counted nothing. */
  gain(type: RecordType, series: string, field: string, fromT: number, toT: number): number {
    const before = this.record(type, series, fromT) === undefined ? 0 : this.value(type, series, field, fromT)
    return this.value(type, series, field, toT) - before
  }
}
