import type { Labels, RecordOf, RecordType } from '@sonde/sdk'
import { type Integer64, seriesKey } from '@sonde/sdk/internal'
import type { StatisticSet } from '../../native/ethtool.ts'
import { FieldAbsences } from '../field-absences.ts'
import type { SourceContext } from '../source.ts'
import type { EthtoolOptions } from './config.ts'
import { namesIn, type StatisticTarget, statisticTarget } from './parse.ts'
import { ethtoolDriverType, ethtoolLaneType, ethtoolPortType, ethtoolPriorityType } from './type.ts'

/** One series: its labels, and the record that is filled and reported at every sample. */
interface Series {
  readonly type: RecordType
  readonly labels: Labels
  readonly record: Record<string, unknown>
}

interface Step {
  readonly index: number
  readonly record: Record<string, unknown>
  readonly field: string
  readonly divisor: number
}

const NAME_BYTES = 32
const NOT_TOLD = 'the driver does not tell this with its present firmware and settings'

/** What the statistics of one device are about: made once a string set, then used at every sample. */
export class Statistics {
  readonly #device: string
  readonly #set: StatisticSet
  readonly #context: SourceContext
  readonly #series = new Map<string, Series>()
  readonly #steps: Step[] = []
  #driverCount = 0
  /** Statistics that the limit of a device leaves out. */
  #leftOut = 0

  constructor(
    device: string,
    set: StatisticSet,
    { isMlx5 }: { readonly isMlx5: boolean },
    options: EthtoolOptions,
    context: SourceContext,
  ) {
    this.#device = device
    this.#set = set
    this.#context = context
    const seen = new Set<string>()
    for (const [index, name] of namesIn(set.names, NAME_BYTES).entries()) {
      // Some drivers leave names empty, and some give one twice: the first is kept, as people see it first.
      if (name === '' || seen.has(name)) continue
      seen.add(name)
      const place = statisticTarget(name, { isMlx5 })
      if (place.series === 'queue' && !options.queues) continue
      this.#add(device, index, name, place, options.driver_counters)
    }
  }

  /**
   * Reports the absent fields of each series. Series of `before`, the earlier statistics, that no longer exist are
   * gone.
   */
  announce(before: Statistics | undefined): void {
    for (const [key, { type, labels, record }] of this.#series) {
      if (before !== undefined) before.#series.delete(key)
      new FieldAbsences(this.#context.absences, type, labels).tell(record, NOT_TOLD)
    }
    before?.gone('the driver does not have it any more')
  }

  /** Reports the present values of the set. */
  report(time: bigint): void {
    const out = this.#context.report(this.#device)
    for (const { index, record, field, divisor } of this.#steps) {
      const value = valueAt(this.#set.values, index)
      record[field] = divisor === 1 ? value : Number(value) / divisor
    }
    for (const { type, record } of this.#series.values()) {
      record.time = time
      out.report(type, record as RecordOf<typeof type>)
    }
    if (this.#leftOut > 0) this.#context.dropped('driver_counters', this.#leftOut)
  }

  /** Takes every series out of the views. */
  gone(reason: string): void {
    for (const { type, labels } of this.#series.values()) this.#context.absences.gone(type, labels, reason)
  }

  #add(device: string, index: number, name: string, place: StatisticTarget, limit: number): void {
    if (place.series === 'port') this.#place(ethtoolPortType, { device }, index, place)
    else if (place.series === 'priority')
      this.#place(ethtoolPriorityType, { device, priority: place.index }, index, place)
    else if (place.series === 'lane') this.#place(ethtoolLaneType, { device, lane: place.index }, index, place)
    else if (this.#driverCount++ >= limit) this.#leftOut++
    else this.#place(ethtoolDriverType, { device, counter: name }, index, { field: 'statistic', divisor: 1 })
  }

  #place(
    type: RecordType,
    named: Readonly<Record<string, string | number>>,
    index: number,
    { field, divisor }: { readonly field: string; readonly divisor: number },
  ): void {
    const labels = Object.fromEntries(Object.entries(named).map(([name, value]) => [name, String(value)]))
    const key = `${type.name}{${seriesKey(labels)}}`
    let series = this.#series.get(key)
    if (series === undefined) {
      series = { type, labels, record: { ...named } }
      this.#series.set(key, series)
    }
    series.record[field] = 0
    this.#steps.push({ index, record: series.record, field, divisor })
  }
}

/** The u64 at an index: a number where that is exact. */
function valueAt(words: Uint32Array, index: number): Integer64 {
  const low = words[index * 2] as number
  const high = words[index * 2 + 1] as number
  return high < 1 << 21 ? high * 2 ** 32 + low : (BigInt(high) << 32n) | BigInt(low)
}
