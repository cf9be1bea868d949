import type { MetricQuery } from '@sonde/sdk/api'
import { useMemo } from 'react'
import { useTypes } from '../../api/resources.ts'
import { useComparedColumns } from '../../api/use-speed.ts'
import { ChartGrid, type GridChart } from '../../chart/chart-grid.tsx'
import { AnswerState } from '../../components/answer-state.tsx'
import { rangeMs, usePageState } from '../../state/time-window.ts'
import { chartStep } from './chart-step.ts'
import { CHART_FIELDS } from './gpu-fields.ts'

/** What {@link AppCharts} draws. */
export interface AppChartsOptions {
  readonly app: string
  /** The services drawn. Default: all. */
  readonly services: readonly string[] | undefined
  readonly isSimulated: boolean
  /**
   * Whether pods share GPUs or hold MIG instances. The numbers of the whole GPU then replace missing numbers of a pod.
   */
  readonly isSharing: boolean
  /** Interval of the samples; 0 if unknown. Unit: milliseconds. */
  readonly intervalMs: number
}

/** One line per service over the window of the page, drawn from the recorded rows of its pods. */
export function AppCharts({ app, services, isSimulated, isSharing, intervalMs }: AppChartsOptions) {
  const shown = usePageState()
  const page = useMemo(() => {
    const stepMs = shown.url.stepMs ?? chartStep(rangeMs(shown.range), intervalMs, shown.stepMs)
    return { ...shown, stepMs }
  }, [shown, intervalMs])
  const queries = useMemo(() => {
    const ofPods = CHART_FIELDS.map(({ podMetric }) => podQueryOf(app, podMetric))
    return isSharing ? [...ofPods, ...CHART_FIELDS.map(({ deviceMetric }) => deviceQueryOf(app, deviceMetric))] : ofPods
  }, [app, isSharing])
  const answer = useComparedColumns(queries, page)
  const types = useTypes().data?.types
  const charts = useMemo(
    () =>
      CHART_FIELDS.map(({ field, label, metricQuantity: quantity }, at): GridChart => {
        const query = queries[at]!
        const ofDevices = queries[at + CHART_FIELDS.length]
        const shownOf = (asked: MetricQuery | undefined) =>
          asked === undefined
            ? []
            : answer.columns(asked).filter(({ labels }) => services?.includes(labels.service ?? '') !== false)
        const columns = shownOf(query)
        const named = new Set(columns.map(({ labels }) => labels.service ?? ''))
        const rest = shownOf(ofDevices).filter(({ labels }) => !named.has(labels.service ?? ''))
        const members = [...columns, ...rest].map((column, place) => {
          const service = column.labels.service ?? ''
          const label = service === '' ? 'no service' : service
          const isOfDevices = place >= columns.length
          return {
            key: service,
            label: isOfDevices ? `${label}, whole GPUs` : label,
            values: answer.grid!.slice(column),
          }
        })
        return {
          answer,
          spec: {
            id: field,
            title: label,
            quantity,
            ...(quantity.base === '%' ? { scale: 'percent' as const } : {}),
            caption:
              field === 'gpu-mem-used' || field === 'gpu-power-w'
                ? 'of a pod, mean of the service'
                : 'mean of the service',
            members,
            noun: ['service', 'services'],
            isSimulated,
            isAwaited: !answer.isAnswered(query),
          },
          ...(types && members.length === 0 && answer.isReady
            ? { absent: 'no pod of this app has it in this window' }
            : {}),
        }
      }),
    [answer, queries, types, services, isSimulated],
  )
  return (
    <div className="app-charts">
      <AnswerState answer={answer} panels={4} />
      {answer.isReady && <ChartGrid charts={charts} />}
    </div>
  )
}

/**
 * The mean over the pods of a service. Each pod counts once, also if two jobs scrape its agent. The rows of services
 * cannot be joined here: each agent writes the mean of its own pods only.
 */
function podQueryOf(app: string, metric: string): MetricQuery {
  return queryOf(app, metric, ['namespace', 'pod'])
}

/** The mean over the GPUs that pods of a service share. Each GPU counts once. */
function deviceQueryOf(app: string, metric: string): MetricQuery {
  return queryOf(app, metric, ['Hostname', 'UUID', 'GPU_I_ID'])
}

function queryOf(app: string, metric: string, onceBy: readonly string[]): MetricQuery {
  return {
    metric,
    function: 'avg',
    matchers: [{ label: 'app', op: '=', value: app }],
    by: ['service'],
    aggregate: 'avg',
    within: { by: onceBy, aggregate: 'max' },
  }
}
