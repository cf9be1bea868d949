import type { IncidentAnswer, MetricQuery } from '@sonde/sdk/api'
import { useMemo } from 'react'
import { useNode } from '../../api/resources.ts'
import { type KnownColumns, useKnownColumns } from '../../api/use-known-columns.ts'
import { Chart } from '../../chart/chart.tsx'
import type { GridChart } from '../../chart/chart-grid.tsx'
import { herdNames } from '../../chart/chart-model.ts'
import { roomFor } from '../../chart/line-ends.ts'
import { SECONDS } from '../../format/quantity.ts'
import { explorerLanes } from '../explore/explorer-lanes.ts'
import { PORT_SIGNALS, type PortSignalInfo } from '../fabric/port-signals.ts'
import { type IncidentMarks, useIncidentRange } from './incident-range.ts'
import { trainingStepMs } from './training-step.ts'

const CHART_PX = 128
/** What `examples/nccl-steps` reports. */
const STEP_TIME: MetricQuery = { metric: 'training_step_duration_seconds', function: 'max' }
const BANDWIDTH: MetricQuery = { metric: 'nccl_test_bus_bytes_per_second', function: 'max' }
const TRAINING = [STEP_TIME, BANDWIDTH]
const FABRIC: readonly PortSignalInfo[] = [
  PORT_SIGNALS.retransmissions,
  PORT_SIGNALS.marked,
  PORT_SIGNALS.stalledWrites,
  PORT_SIGNALS.stalledReads,
]
const FABRIC_QUERIES = FABRIC.map(({ query }) => query)
const NO_TRAINING =
  'No training reported its steps in this window. Pipe its output through examples/nccl-steps to see them here.'
const NO_QUERIES: typeof FABRIC_QUERIES = []

/** What a training said of itself, above retransmissions, ECN marks and PCIe of the same seconds. */
export function TrainingCharts({
  answer: of,
  marks,
}: {
  readonly answer: IncidentAnswer
  readonly marks: IncidentMarks
}) {
  const node = useNode().data
  const { isSimulated } = of.incident
  const { range, stepMs } = useIncidentRange(of)
  const first = useKnownColumns(TRAINING, range, stepMs)
  const training = useKnownColumns(TRAINING, range, trainingStepMs(first, STEP_TIME, stepMs))
  const told = useMemo(() => trainingCharts(training), [training])
  const hasTraining = told.length > 0
  const fabric = useKnownColumns(hasTraining ? FABRIC_QUERIES : NO_QUERIES, range, stepMs)
  const charts = useMemo(
    () =>
      [...told, ...fabricCharts(fabric, node?.simulated === true, isSimulated)].map(({ spec, answer }) => ({
        spec: { ...spec, marks },
        answer,
      })),
    [told, fabric, node, isSimulated, marks],
  )
  // Any port may be lit beside its herd, so the room is that of all names, and times stand below one another.
  const endPx = roomFor(
    charts.flatMap(({ spec, answer }) => [
      ...spec.members.map(({ label }) => label),
      ...herdNames(spec, answer.stepMs),
    ]),
  )
  return (
    <section aria-labelledby="training">
      <header className="section-head">
        <h2 id="training" className="panel-title">
          Step time beside the fabric
        </h2>
      </header>
      {/* The charts come together, because all share the room of the longest name. */}
      {hasTraining && fabric.isReady ? (
        <div className="chart-column">
          {charts.map(({ spec, answer }) => (
            <Chart key={spec.id} spec={spec} answer={answer} heightPx={CHART_PX} endPx={endPx} headingId="training" />
          ))}
        </div>
      ) : (
        <p className="panel panel-note">
          {first.isReady && !hasTraining ? NO_TRAINING : 'Looking for steps of a training.'}
        </p>
      )}
    </section>
  )
}

function trainingCharts(answer: KnownColumns): GridChart[] {
  return [
    { query: STEP_TIME, title: 'Step time', caption: 'the longest', quantity: SECONDS },
    { query: BANDWIDTH, title: 'Bus bandwidth of nccl-tests', caption: '', quantity: undefined },
  ].flatMap(({ query, title, caption, quantity }) =>
    explorerLanes([query], answer).flatMap(({ spec }): GridChart[] => {
      const members = spec.members.filter(({ values }) => values.some((value) => !Number.isNaN(value)))
      if (members.length === 0) return []
      const more = quantity === undefined ? {} : { quantity }
      const noun = ['job', 'jobs'] as const
      return [{ spec: { ...spec, ...more, id: `training-${spec.id}`, title, caption, members, noun }, answer }]
    }),
  )
}

/** Signals of ports that are as real as the incident. */
function fabricCharts(answer: KnownColumns, isNodeSimulated: boolean, isSimulated: boolean): GridChart[] {
  return FABRIC.flatMap(({ query, title, caption = '', quantity }) =>
    explorerLanes([query], answer, { simulated: isNodeSimulated }).flatMap(({ spec, series }): GridChart[] => {
      const members = series.filter((one) => one.isSimulated === isSimulated).map(({ member }) => member)
      const noun = ['port', 'ports'] as const
      const own = { id: `fabric-${spec.id}`, title, caption, quantity, members, noun, isAlike: true }
      return members.length > 0 ? [{ spec: { ...spec, ...own }, answer }] : []
    }),
  )
}
