import { useMemo } from 'react'
import { useTypes } from '../../api/resources.ts'
import { useComparedColumns } from '../../api/use-speed.ts'
import { ChartGrid, type GridChart } from '../../chart/chart-grid.tsx'
import { AnswerState } from '../../components/answer-state.tsx'
import { rangeMs, usePageState } from '../../state/time-window.ts'
import { CLUSTER_SIGNALS, nodeLines, RAW_WINDOW_MS } from './cluster-signals.ts'

/**
 * The nodes behind a Prometheus over the window of the page: the highest, the mean and the lowest of each signal. Long
 * windows read the series of recording rules.
 */
export function ClusterCharts() {
  const page = usePageState()
  const types = useTypes().data?.types
  const known = useMemo(() => new Set(types?.flatMap(({ fields }) => fields.map(({ metric }) => metric))), [types])
  const windowMs = rangeMs(page.range)
  const signals = useMemo(
    () =>
      CLUSTER_SIGNALS.map((signal) => ({ signal, lines: nodeLines(signal, windowMs, (metric) => known.has(metric)) })),
    [windowMs, known],
  )
  const queries = useMemo(() => signals.flatMap(({ lines }) => lines.map(({ query }) => query)), [signals])
  const answer = useComparedColumns(queries, page)
  const charts = signals.map(({ signal: { id, title, quantity, recorded, raw }, lines }): GridChart => {
    const members = lines.flatMap(({ label, query }) =>
      answer.columns(query).map((column) => ({ key: label, label, values: answer.grid!.slice(column) })),
    )
    const isRaw = windowMs > RAW_WINDOW_MS && !known.has(recorded)
    return {
      answer,
      spec: {
        ...{ id, title, quantity, members, noun: ['line', 'lines'], isAlike: false },
        caption: isRaw ? 'of a node · no recording rules' : 'of a node',
        isAwaited: lines.some(({ query }) => !answer.isAnswered(query)),
      },
      ...(types && !known.has(recorded) && !known.has(raw.metric)
        ? { absent: `the server has no ${raw.metric}` }
        : members.length === 0 && answer.isReady
          ? { absent: 'no node has it in this window' }
          : {}),
    }
  })
  return (
    <>
      <AnswerState answer={answer} panels={3} />
      {answer.isReady && <ChartGrid title="All nodes" charts={charts} />}
    </>
  )
}
