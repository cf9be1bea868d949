import type { AppGpuPod, Labels, MetricQuery, NicOfPod } from '@sonde/sdk/api'
import { useMemo } from 'react'
import { useComparedColumns } from '../../api/use-speed.ts'
import { ChartGrid, type GridChart } from '../../chart/chart-grid.tsx'
import type { ChartSpec } from '../../chart/chart-spec.ts'
import { AnswerState } from '../../components/answer-state.tsx'
import { BITS_PER_SECOND, PER_SECOND } from '../../format/quantity.ts'
import { usePageState } from '../../state/time-window.ts'
import { CHART_FIELDS } from '../app/gpu-fields.ts'

/** What one line of a chart shows. */
interface Line {
  readonly label: string
  readonly query: MetricQuery
}

interface PodChart extends Pick<ChartSpec, 'id' | 'title' | 'quantity' | 'caption' | 'scale' | 'noun'> {
  readonly lines: readonly Line[]
  readonly without: string
}

/** The numbers of a pod over the window, and the RDMA traffic of the interfaces that it has for itself. */
export function PodCharts({ pod, nics }: { readonly pod: AppGpuPod; readonly nics: readonly NicOfPod[] }) {
  const page = usePageState()
  const { namespace, name, isSimulated } = pod
  // Numbers of which only those of whole GPUs are known, and numbers that are not known at all.
  const lacked = CHART_FIELDS.filter(({ field }) => pod.values[field] === null).map(({ field }) => field)
  const whole = lacked.filter((field) => pod.deviceValues[field] !== undefined)
  const [ofDevices, ofNothing] = [whole.join(), lacked.filter((field) => !whole.includes(field)).join()]
  const ofNics = JSON.stringify(
    nics.flatMap(({ rdmaDevice, rdmaLabels }) => (rdmaLabels ? [[rdmaDevice, rdmaLabels]] : [])),
  )
  const charts = useMemo(
    () => [
      ...numberCharts({ namespace, pod: name }, ofDevices).filter(({ id }) => !ofNothing.split(',').includes(id)),
      ...rdmaCharts(JSON.parse(ofNics) as (readonly [string, Labels])[]),
    ],
    [namespace, name, ofDevices, ofNothing, ofNics],
  )
  const queries = useMemo(() => charts.flatMap(({ lines }) => lines.map(({ query }) => query)), [charts])
  const answer = useComparedColumns(queries, page)
  const drawn = useMemo(
    () =>
      charts.map(({ lines, without, ...spec }): GridChart => {
        const members = lines.flatMap(({ label, query }) =>
          answer
            .columns(query)
            .map((column) => ({ key: label, label, values: answer.grid!.slice(column) }))
            .slice(0, 1),
        )
        const isAwaited = lines.some(({ query }) => !answer.isAnswered(query))
        return {
          answer,
          spec: { ...spec, members, isSimulated, isAwaited, isAlike: false },
          ...(members.length === 0 && answer.isReady ? { absent: without } : {}),
        }
      }),
    [answer, charts, isSimulated],
  )
  if (charts.length === 0) return null
  return (
    <div className="app-charts">
      <AnswerState answer={answer} panels={4} />
      {answer.isReady && <ChartGrid charts={drawn} />}
    </div>
  )
}

function queryOf(metric: string, fn: MetricQuery['function'], labels: Labels): MetricQuery {
  const matchers = Object.entries(labels).map(([label, value]) => ({ label, op: '=' as const, value }))
  return { metric, function: fn, matchers }
}

/** @param ofDevices Fields, separated by commas, of which the values of whole GPUs are drawn. */
function numberCharts(labels: Labels, ofDevices: string): PodChart[] {
  return CHART_FIELDS.map(({ field, label, metricQuantity: quantity, podMetric, deviceMetric, isSum }) => {
    const isWhole = ofDevices.split(',').includes(field)
    const query: MetricQuery = isWhole
      ? { ...queryOf(deviceMetric, 'avg', labels), by: [], aggregate: isSum ? 'sum' : 'avg' }
      : queryOf(podMetric, 'avg', labels)
    return {
      ...{ id: field, title: label, quantity, noun: ['pod', 'pods'] as const },
      ...(quantity.base === '%' ? { scale: 'percent' as const } : {}),
      caption: `${isSum ? 'sum' : 'mean'} of its GPUs${isWhole ? ', which others use too' : ''}`,
      lines: [{ label: isWhole ? 'whole GPU' : 'pod', query }],
      without: 'no value in this window',
    }
  })
}

function rdmaCharts(devices: readonly (readonly [string, Labels])[]): PodChart[] {
  if (devices.length === 0) return []
  const linesOf = (metrics: readonly (readonly [metric: string, words: string])[]) =>
    devices.flatMap(([device, labels]) =>
      metrics.map(([metric, words]) => ({
        label: devices.length > 1 ? `${device} ${words}` : words,
        query: queryOf(metric, 'rate', labels),
      })),
    )
  const shared = { noun: ['line', 'lines'] as const, caption: devices.map(([device]) => device).join(', ') }
  return [
    {
      ...{ id: 'pod-rdma-traffic', title: 'RDMA traffic', quantity: BITS_PER_SECOND, ...shared },
      lines: linesOf([
        ['rdma_port_xmit_data_bytes_total', 'sent'],
        ['rdma_port_rcv_data_bytes_total', 'received'],
      ]),
      without: 'the source rdma reports no port of these devices',
    },
    {
      ...{ id: 'pod-rdma-loss', title: 'RDMA loss', quantity: PER_SECOND, ...shared },
      lines: linesOf([
        ['rdma_hw_packet_seq_err_total', 'sequence errors'],
        ['rdma_hw_out_of_sequence_total', 'out of order'],
        ['rdma_hw_local_ack_timeout_err_total', 'timeouts'],
      ]),
      without: 'no source reports such counters of these devices',
    },
  ]
}
