import { useMemo } from 'react'
import type { DeviceInfo } from '../../api/devices.ts'
import { type Hint, useHints } from '../../api/hints.ts'
import { useToldSecond } from '../../api/stale.ts'
import type { MetricQuery } from '../../api/types.ts'
import { type KnownColumns, useKnownColumns } from '../../api/use-known-columns.ts'
import { AnswerState } from '../../components/answer-state.tsx'
import { PanelBoundary } from '../../components/error-boundary.tsx'
import { NoSamples } from '../../components/no-samples.tsx'
import { type DeviceColumns, deviceColumns, recentMean } from '../../devices/device-columns.ts'
import { nodeSentence } from '../../devices/node-sentence.ts'
import { DEVICE_QUERIES, type DeviceSignal } from '../../devices/signals.ts'
import type { DeviceChartName } from '../device-charts.ts'
import { DeviceCharts } from '../device-charts-grid.tsx'
import { HintHeadline } from '../hint-headline.tsx'
import { HOST_QUERIES, hostColumns } from '../host-data.ts'
import { type Moment, useMoment } from '../use-moment.ts'
import { firedQueries } from './evidence.ts'
import { HintsPanel } from './hints-panel.tsx'
import { HostFacts } from './host-facts.tsx'
import { SourcesPanel } from './sources-panel.tsx'
import { Topology } from './topology.tsx'

/** What the tiles, the sentence and the charts are made from: asked together, they come together. */
const SIGNALS: readonly DeviceSignal[] = [
  'sm',
  'tensor',
  'utilisation',
  'power',
  'temperature',
  'pcieSent',
  'pcieReceived',
  'sent',
  'received',
  'sequenceErrors',
  'retransmissions',
  'symbolErrors',
  'checksumErrors',
  'state',
  'lineRate',
  'interfaceSent',
  'interfaceReceived',
  'speed',
  'speedMax',
  'width',
  'widthMax',
  'bandwidth',
]
const TILE_QUERIES: readonly MetricQuery[] = [
  ...SIGNALS.map((signal) => DEVICE_QUERIES[signal]),
  ...Object.values(HOST_QUERIES),
]
const CHARTS: readonly DeviceChartName[] = ['sm', 'tensor', 'power', 'sent', 'sequenceErrors', 'retransmissions']
const NO_HINTS: readonly Hint[] = []

/** Is this machine well, and if not, where: of a machine with GPUs or NICs. */
export function DevicesOverview({ devices }: { readonly devices: readonly DeviceInfo[] }) {
  const moment = useMoment()
  const { data } = useHints()
  // Rules speak of now: a window that stands has none.
  const hints = (moment.isNow && data?.hints) || NO_HINTS
  const recent = useKnownColumns(TILE_QUERIES, moment.range, moment.stepMs)
  // What fired is drawn in tiles once it is here; nothing waits for it.
  useKnownColumns(
    useMemo(() => firedQueries(hints), [hints]),
    moment.range,
    moment.stepMs,
  )
  const columns = useMemo(() => deviceColumns(devices, recent), [devices, recent])
  const host = useMemo(() => hostColumns(recent), [recent])
  const totals = useMemo(() => totalsOf(columns, recent.stepMs), [columns, recent.stepMs])
  const isEmpty = recent.isReady && !moment.isNow && [...columns.values()].every((own) => Object.keys(own).length === 0)
  if (isEmpty) return <NoSamples answer={recent} />
  return (
    <>
      <NodeHeadline devices={devices} moment={moment} recent={recent} totals={totals} />
      <PanelBoundary>
        <Topology devices={devices} hints={hints} columns={columns} answer={recent} totals={totals} />
      </PanelBoundary>
      <AnswerState answer={recent} />
      {recent.isReady && <DeviceCharts names={CHARTS} devices={devices} hints={hints} />}
      <HostFacts host={host} />
      <div className="node-foot">
        <PanelBoundary>
          <HintsPanel devices={devices} />
        </PanelBoundary>
        <PanelBoundary>
          <SourcesPanel />
        </PanelBoundary>
      </div>
    </>
  )
}

interface Totals {
  readonly power: number
  readonly sent: number
}

function NodeHeadline({
  devices,
  moment,
  recent,
  totals,
}: {
  readonly devices: readonly DeviceInfo[]
  readonly moment: Moment
  readonly recent: KnownColumns
  readonly totals: Totals
}) {
  const { data } = useHints()
  const nowMs = useToldSecond()
  if (!recent.isReady || (!data && moment.isNow)) return <div className="headline is-awaited" />
  const hints = moment.isNow ? data?.hints : undefined
  // An age is told from now: it says nothing of a window that is over.
  const lastEndedMs = moment.isNow ? newestEnd(data?.ended) : undefined
  const { tense } = moment
  const text = nodeSentence({ devices, hints, ruleCount: data?.rules ?? 0, lastEndedMs, ...totals, nowMs, tense })
  const worst = hints?.[0]
  return <HintHeadline text={text} moment={moment.words} worst={worst} />
}

function newestEnd(ended: readonly Hint[] = []): number | undefined {
  return ended.length === 0 ? undefined : Math.max(...ended.map(({ endedMs = 0 }) => endedMs))
}

function totalsOf(columns: ReadonlyMap<string, DeviceColumns>, stepMs: number): Totals {
  const sum = (values: readonly (Float64Array | undefined)[]): number => {
    const known = values.map((column) => recentMean(column, stepMs)).filter((value) => !Number.isNaN(value))
    return known.length === 0 ? Number.NaN : known.reduce((total, value) => total + value, 0)
  }
  const all = [...columns.values()]
  return {
    power: sum(all.map(({ power }) => power)),
    sent: sum(all.map(({ sent, interfaceSent }) => sent ?? interfaceSent)),
  }
}
