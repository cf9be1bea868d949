import type { Labels, LatestSeries, QueryFunction } from '@sonde/sdk/api'
import type { DeviceInfo } from '../../api/devices.ts'
import type { KnownColumns } from '../../api/use-known-columns.ts'
import {
  type DeviceReading,
  lastValue,
  meanReading,
  newestReading,
  type ReadSpan,
  readingOfNow,
} from '../../devices/device-reading.ts'
import type { Judge } from './facts.ts'
import { columnsOf, isOfLine } from './panel-queries.ts'

const NOT_READ = readingOfNow(Number.NaN)

/**
 * Reads a number of a metric for the device of the page or for `of`. Of several series, such as priorities, reads the
 * largest. For a past window reads the mean and the extremes.
 */
type ReadDevice = (metric: string, fn?: QueryFunction, of?: DeviceInfo) => DeviceReading

/** Input of the facts: samples of the panels, newest or over the window, and exact values. */
export interface DeviceReadings {
  /** The state that rules report for metrics of the device. */
  readonly judge: Judge
  /** The newest sample, or the mean of a past window; NaN if there is none. */
  readonly newest: ReadDevice
  /** The last sample, for states and limits; NaN if there is none. */
  readonly last: (metric: string) => number
  /** The mean of the newest samples, as in tiles; NaN if there is none. */
  readonly mean: ReadDevice
  /** The exact value of the last reading, or of the history if the page shows the past; undefined if absent. */
  readonly exact: (metric: string, labels?: Labels) => string | undefined
  /** The labels of the series of an info metric; of the window, if the page shows the past. */
  readonly infos: (metric: string) => readonly Labels[]
  /** The samples of every series of a metric of the device. The last known sample is at the end. */
  readonly all: (metric: string) => readonly { readonly labels: Labels; readonly values: Float64Array }[]
}

/** Reads the samples of a device, and its latest exact values. */
export function deviceReadings(
  device: DeviceInfo,
  recent: KnownColumns,
  span: ReadSpan,
  latest: readonly LatestSeries[],
): Omit<DeviceReadings, 'judge'> {
  const read =
    (summary: (values: Float64Array, span: ReadSpan) => DeviceReading): ReadDevice =>
    (metric, fn = 'last', of = device) => {
      const { grid } = recent
      if (!grid) return NOT_READ
      const columns = columnsOf(of, { metric, function: fn }, recent)
      const readings = columns
        .map((column) => summary(lastKnown(of, grid.slice(column)), span))
        .filter(({ value }) => !Number.isNaN(value))
      return readings.reduce((most, one) => (one.value > most.value ? one : most), readings[0] ?? NOT_READ)
    }
  const readLast = read((values) => readingOfNow(lastValue(values, span)))
  const last = (metric: string): number => readLast(metric).value
  const all: DeviceReadings['all'] = (metric) => {
    const { grid } = recent
    if (!grid) return []
    return columnsOf(device, { metric, function: 'last' }, recent).map((column) => ({
      labels: column.labels,
      values: grid.slice(column),
    }))
  }
  const told = (metric: string): string | undefined => {
    const value = last(metric)
    return Number.isNaN(value) ? undefined : String(value)
  }
  return {
    newest: read(newestReading),
    last,
    mean: read(meanReading),
    exact: (metric, labels) => {
      const series = latest.find((one) => isOfLine({ metric, labels }, one))
      return series ? (series.value ?? undefined) : told(metric)
    },
    infos: (metric) => {
      const said = latest.filter((one) => one.metric === metric && one.value !== null)
      const seen = () => all(metric).filter(({ values }) => values.some((value) => value > 0))
      return (span.isNow ? said : seen()).map(({ labels }) => labels)
    },
    all,
  }
}

/** The samples of a departed device, cut after its last sample. The end then holds the last known value. */
function lastKnown({ state }: DeviceInfo, values: Float64Array): Float64Array {
  return state === 'gone' ? values.subarray(0, values.findLastIndex((value) => !Number.isNaN(value)) + 1) : values
}
