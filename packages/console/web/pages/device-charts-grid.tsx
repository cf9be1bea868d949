import { type Hint, spanOfHint } from '@sonde/sdk/api'
import { useMemo } from 'react'
import type { DeviceInfo } from '../api/devices.ts'
import { useTypes } from '../api/resources.ts'
import { useComparedColumns } from '../api/use-speed.ts'
import { ChartGrid } from '../chart/chart-grid.tsx'
import type { ChartMark } from '../chart/chart-spec.ts'
import { deviceColumns } from '../devices/device-columns.ts'
import { serverNowMs } from '../state/clock.ts'
import { usePageState } from '../state/time-window.ts'
import { chartQueries, type DeviceChartName, deviceCharts } from './device-charts.ts'
import { evidenceOf } from './node/evidence.ts'

/** Charts that compare devices over the window of the page, with hints as flags. */
export function DeviceCharts({
  names,
  devices,
  hints,
}: {
  readonly names: readonly DeviceChartName[]
  readonly devices: readonly DeviceInfo[]
  readonly hints: readonly Hint[]
}) {
  const page = usePageState()
  const types = useTypes().data?.types
  const queries = useMemo(() => chartQueries(names), [names])
  const answer = useComparedColumns(queries, page)
  const knownMetrics = useMemo(
    () => new Set(types?.flatMap(({ fields }) => fields.map(({ metric }) => metric))),
    [types],
  )
  const marks = useMarks(hints)
  const charts = useMemo(
    () =>
      deviceCharts(names, devices, deviceColumns(devices, answer), {
        knownMetrics,
        marks,
        isAnswered: answer.isAnswered,
      }),
    [names, devices, answer, knownMetrics, marks],
  )
  return <ChartGrid charts={charts.map((chart) => ({ ...chart, answer }))} />
}

/** Flags of open and ended hints. The list stays identical while the hints do, so that charts are not redrawn. */
export function useMarks(hints: readonly Hint[]): readonly ChartMark[] {
  const page = usePageState()
  const { range } = page
  const moment = { nowMs: serverNowMs(), toMs: range.kind === 'fixed' ? range.toMs : undefined }
  const said = JSON.stringify(
    hints
      .filter(({ stage, severity }) => stage !== 'forming' && severity !== 'notice')
      .map(
        (hint): ChartMark => ({
          ...spanOfHint(hint, moment.toMs),
          label: hint.title,
          href: page.hrefTo('/explore', evidenceOf(hint, moment)),
        }),
      ),
  )
  return useMemo(() => JSON.parse(said) as readonly ChartMark[], [said])
}
