import type { LatestSeries } from '@sonde/sdk/api'
import { useRef } from 'react'
import { labelKey } from '../../api/sample-grid.ts'

interface Reading {
  readonly value: string
  readonly timeMs: number
  /** Rate per second between the two newest readings; NaN before the second reading. */
  readonly rate: number
}

/** Identifies a series among the latest values. */
export function seriesKeyOf({ metric, labels }: LatestSeries): string {
  return `${metric}\u0003${labelKey(labels)}`
}

/** The next reading with its rate. Subtracts exact integers, so that large totals keep their precision. */
export function nextReading(before: Reading | undefined, value: string, timeMs: number): Reading {
  if (before && timeMs <= before.timeMs) return before
  return { value, timeMs, rate: before ? rateBetween(before, value, timeMs) : Number.NaN }
}

function rateBetween(before: Reading, value: string, timeMs: number): number {
  const isWhole = /^\d+$/.test(value) && /^\d+$/.test(before.value)
  const gained = isWhole ? Number(BigInt(value) - BigInt(before.value)) : Number(value) - Number(before.value)
  // The first reading after a reset has no rate.
  return gained < 0 ? Number.NaN : (gained / (timeMs - before.timeMs)) * 1000
}

/** Counter rates per second between two successive readings of the latest values. */
export function useCounterRates(latest: readonly LatestSeries[]): ReadonlyMap<string, number> {
  const readings = useRef<ReadonlyMap<string, Reading>>(new Map())
  const rates = useRef<ReadonlyMap<string, number>>(new Map())
  const seen = useRef<readonly LatestSeries[]>(undefined)
  if (seen.current !== latest) {
    seen.current = latest
    const next = new Map<string, Reading>()
    for (const series of latest) {
      if (series.value === null) continue
      const key = seriesKeyOf(series)
      next.set(key, nextReading(readings.current.get(key), series.value, series.timeMs))
    }
    readings.current = next
    rates.current = new Map([...next].map(([key, { rate }]) => [key, rate]))
  }
  return rates.current
}
