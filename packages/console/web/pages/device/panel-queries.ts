import type { Labels, LatestSeries, MetricQuery } from '@sonde/sdk/api'
import type { DeviceInfo } from '../../api/devices.ts'
import type { QueryColumns } from '../../api/query-client.ts'
import type { GridColumn } from '../../api/sample-grid.ts'
import { askFor, isSeriesOf } from '../../devices/device.ts'
import { fieldMatchers } from '../../state/listed-metrics.ts'
import type { DevicePanel, PanelLine } from './panel.ts'

/** Every query of the given panels about a device, without duplicates. */
export function panelQueries(device: DeviceInfo, panels: readonly DevicePanel[]): readonly MetricQuery[] {
  const found = new Map<string, MetricQuery>()
  for (const panel of panels) {
    for (const line of [...panel.lines, ...limitLines(panel), ...fullLines(panel), ...perLines(panel)]) {
      const query = queryOf(line.of ?? device, line)
      if (query) found.set(JSON.stringify(query), query)
    }
  }
  return [...found.values()]
}

/** The query of a line. The answer may include series of a device with the same name; {@link columnsOf} drops them. */
export function queryOf(
  device: DeviceInfo,
  line: Pick<PanelLine, 'metric' | 'function' | 'labels'>,
): MetricQuery | undefined {
  const matchers = askFor(device, line.metric)
  const { metric, function: fn } = line
  return matchers && { metric, function: fn, matchers: [...matchers, ...fieldMatchers(line)] }
}

/** The columns of a device for a line. */
export function columnsOf(
  device: DeviceInfo,
  line: Pick<PanelLine, 'metric' | 'function' | 'labels'>,
  answer: QueryColumns,
): readonly GridColumn[] {
  const query = queryOf(device, line)
  return query ? answer.columns(query).filter(({ labels }) => isSeriesOf(device, line.metric, labels)) : []
}

/** Whether a series is of the metric and the constant labels of a line. */
export function isOfLine(
  { metric, labels = {} }: { readonly metric: string; readonly labels?: Labels | undefined },
  series: LatestSeries,
): boolean {
  return series.metric === metric && Object.entries(labels).every(([name, value]) => series.labels[name] === value)
}

export function isUnanswered(device: DeviceInfo, line: PanelLine, answer: QueryColumns): boolean {
  const query = queryOf(device, line)
  return query !== undefined && !answer.isAnswered(query)
}

function limitLines({ limits = [] }: DevicePanel): readonly Pick<PanelLine, 'metric' | 'function' | 'of'>[] {
  return limits.flatMap(({ metric }) => (metric ? [{ metric, function: 'last' as const }] : []))
}

function fullLines({ lines }: DevicePanel): readonly Pick<PanelLine, 'metric' | 'function' | 'of'>[] {
  return lines.flatMap(({ full, labels: _, ...line }) =>
    full ? [{ ...line, metric: full, function: 'last' as const }] : [],
  )
}

function perLines({ lines }: DevicePanel): readonly Pick<PanelLine, 'metric' | 'function' | 'of'>[] {
  return lines.flatMap(({ per, labels: _, ...line }) =>
    per ? [{ ...line, metric: per.metric, function: per.function ?? 'last' }] : [],
  )
}
