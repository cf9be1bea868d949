import { useMemo } from 'react'
import { useKnownColumns } from '../../api/use-known-columns.ts'
import { ChartGrid } from '../../chart/chart-grid.tsx'
import { AnswerState } from '../../components/answer-state.tsx'
import { usePageState } from '../../state/time-window.ts'
import { type SelfPanel, selfCharts, selfQueries } from './self-charts.ts'

/** Charts of Sonde's own metrics. */
export function SelfCharts({ panels }: { readonly panels: readonly SelfPanel[] }) {
  const page = usePageState()
  const queries = useMemo(() => selfQueries(panels), [panels])
  const answer = useKnownColumns(queries, page.range, page.stepMs)
  const charts = useMemo(() => selfCharts(answer, panels), [answer, panels])
  return (
    <>
      <AnswerState answer={answer} panels={3} />
      <ChartGrid charts={charts.map((spec) => ({ spec, answer }))} />
    </>
  )
}
