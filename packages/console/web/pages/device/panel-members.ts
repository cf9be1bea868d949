import type { Labels } from '@sonde/sdk/api'
import type { DeviceInfo } from '../../api/devices.ts'
import type { QueryColumns } from '../../api/query-client.ts'
import type { ChartMember, ChartSpec } from '../../chart/chart-spec.ts'
import { newestValue } from '../../devices/interface-data.ts'
import { compareNames, splitWords, tellingLabels } from '../../format/names.ts'
import type { DevicePanel, PanelLine } from './panel.ts'
import { columnsOf } from './panel-queries.ts'

export function membersOf(device: DeviceInfo, line: PanelLine, answer: QueryColumns): ChartMember[] {
  const { grid } = answer
  if (!grid) return []
  const columns = columnsOf(line.of ?? device, line, answer)
  const shown = line.each === undefined ? columns.slice(0, 1) : columns
  const full = line.full ? newestOf(line.of ?? device, line.full, answer) : undefined
  const valuesOf = divider(device, line, answer)
  const nameOf = lineNames(
    line,
    shown.map(({ labels }) => labels),
  )
  return shown
    .map((column) => ({
      ...memberOf(line, nameOf(column.labels), { ...column, values: valuesOf(grid.slice(column)) }),
      ...(full !== undefined && full > 0 ? { full } : {}),
    }))
    .sort((a, b) => compareNames(a.label, b.label))
}

/** Divides values as `per` of their line says. A divisor that is 0 gives no value. */
function divider(device: DeviceInfo, { per, of = device }: PanelLine, answer: QueryColumns) {
  if (per === undefined) return (values: Float64Array): Float64Array => values
  const { metric, function: fn = 'last', value: known = Number.NaN } = per
  const column = columnsOf(of, { metric, function: fn }, answer)[0]
  const divisors = column && answer.grid?.slice(column)
  return (values: Float64Array): Float64Array => {
    let divisor = known
    return values.map((value, at) => {
      const now = divisors?.[at] ?? Number.NaN
      if (now > 0 || fn === 'rate') divisor = now
      return divisor > 0 ? value / divisor : Number.NaN
    })
  }
}

function memberOf(
  { metric, isUp }: PanelLine,
  name: string,
  { values, resetsMs }: Required<Pick<ChartMember, 'values' | 'resetsMs'>>,
): ChartMember {
  return { key: `${metric} ${name}`, label: name, values: isUp ? upOrDown(values, isUp) : values, resetsMs }
}

/** Names the series of a line, of which all labels are given. */
export function lineNames({ label, each, words = {} }: PanelLine, all: readonly Labels[]): (labels: Labels) => string {
  if (each === undefined) return () => label
  if (typeof each === 'string') {
    return (labels) => {
      const own = labels[each] ?? ''
      const value = words[own] ?? own
      return label.includes('{}') ? label.replace('{}', value) : `${label} ${value}`.trim()
    }
  }
  const own = (labels: Labels): Labels => Object.fromEntries(each.map((name) => [name, labels[name] ?? '']))
  const telling = tellingLabels(all.map(own))
  return (labels) => splitWords(own(labels), telling).name
}

function upOrDown(values: Float64Array, isUp: (value: number) => boolean): Float64Array {
  return values.map((value) => (Number.isNaN(value) ? value : Number(isUp(value))))
}

/** The newest value in the window for a metric with one series per device; undefined if there is none. */
function newestOf(device: DeviceInfo, metric: string, answer: QueryColumns): number | undefined {
  const column = columnsOf(device, { metric, function: 'last' }, answer)[0]
  return column && answer.grid && newestValue(answer.grid.slice(column), Number.POSITIVE_INFINITY)
}

export function panelLimits(
  device: DeviceInfo,
  { limits = [] }: DevicePanel,
  answer: QueryColumns,
): ChartSpec['limits'] & object {
  return limits.flatMap(({ label, metric, value }) => {
    const now = (metric && newestOf(device, metric, answer)) || value
    return now === undefined || !(now > 0) ? [] : [{ label, value: now }]
  })
}
