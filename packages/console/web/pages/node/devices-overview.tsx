import type { Hint, MetricQuery } from '@sonde/sdk/api'
import { useMemo } from 'react'
import type { DeviceInfo } from '../../api/devices.ts'
import { type KnownColumns, useKnownColumns } from '../../api/use-known-columns.ts'
import { AnswerState } from '../../components/answer-state.tsx'
import { PanelBoundary } from '../../components/error-boundary.tsx'
import { NoSamples } from '../../components/no-samples.tsx'
import { type DeviceColumns, deviceColumns, silentCountOf } from '../../devices/device-columns.ts'
import { meanReading, type ReadSpan } from '../../devices/device-reading.ts'
import { allHints, devicesAt, unknownWords } from '../../devices/moment-hints.ts'
import { nodeSentence } from '../../devices/node-sentence.ts'
import { DEVICE_QUERIES, type DeviceSignal } from '../../devices/signals.ts'
import type { DeviceChartName } from '../device-charts.ts'
import { DeviceCharts } from '../device-charts-grid.tsx'
import { HintHeadline } from '../hint-headline.tsx'
import { HOST_QUERIES, hostColumns } from '../host-data.ts'
import { useAffected } from '../use-affected.ts'
import { type PageMoment, useMoment } from '../use-moment.ts'
import { useMomentHints, useSpokenMoment } from '../use-moment-hints.ts'
import { firedQueries } from './evidence.ts'
import { HintsPanel } from './hints-panel.tsx'
import { HostFacts } from './host-facts.tsx'
import { SourcesPanel } from './sources-panel.tsx'
import { Topology } from './topology.tsx'

/** Signals of the tiles, the headline and the charts. A single request keeps them in step. */
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

/** Overview of a machine with GPUs or NICs: whether it is well, and if not, where the trouble is. */
export function DevicesOverview({ devices: known }: { readonly devices: readonly DeviceInfo[] }) {
  const moment = useMoment()
  const seen = useMomentHints(moment)
  const affected = useAffected(moment.window)
  const { hints } = seen
  const devices = useMemo(() => devicesAt(known, moment.toMs), [known, moment.toMs])
  const recent = useKnownColumns(TILE_QUERIES, moment.range, moment.stepMs)
  // Tiles draw the signals of hints once they arrive. Nothing waits for them.
  useKnownColumns(
    useMemo(() => firedQueries(hints), [hints]),
    moment.range,
    moment.stepMs,
  )
  const columns = useMemo(() => deviceColumns(devices, recent), [devices, recent])
  const host = useMemo(() => hostColumns(recent), [recent])
  const totals = useMemo(() => totalsOf(devices, columns, moment), [devices, columns, moment])
  const isEmpty = recent.isReady && !moment.isNow && [...columns.values()].every((own) => Object.keys(own).length === 0)
  if (isEmpty) return <NoSamples answer={recent} />
  return (
    <>
      <NodeHeadline devices={devices} moment={moment} recent={recent} totals={totals} />
      <PanelBoundary>
        <Topology
          devices={devices}
          seen={seen}
          affected={affected}
          columns={columns}
          answer={recent}
          span={moment}
          totals={totals}
        />
      </PanelBoundary>
      <AnswerState answer={recent} />
      {recent.isReady && <DeviceCharts names={CHARTS} devices={devices} hints={allHints(seen)} />}
      <HostFacts host={host} span={moment} />
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
  readonly silentCount: number
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
  readonly moment: PageMoment
  readonly recent: KnownColumns
  readonly totals: Totals
}) {
  const seen = useMomentHints(moment)
  const spoken = useSpokenMoment(moment)
  const { data, hints, isKnown, ended, unknown, error } = seen
  if (!recent.isReady || (!data && !error))
    return <div className={moment.isNow ? 'headline is-awaited' : 'headline is-awaited is-past'} />
  const text = nodeSentence({
    devices,
    hints,
    isKnown,
    unknown: moment.isNow ? '' : unknownWords(unknown, spoken.zone),
    ruleCount: data?.rules ?? 0,
    blindCount: data?.blind.length ?? 0,
    // An age counts from now, so it makes no sense for a past window.
    lastEndedMs: moment.isNow ? newestEnd(ended) : undefined,
    ...totals,
    moment: spoken,
  })
  const [worst] = hints
  const device = devices.find(({ id }) => id === worst?.device)
  return <HintHeadline text={text} moment={moment.words} toMs={moment.toMs} worst={worst} device={device} />
}

/** The latest end of a confirmed hint. Unconfirmed hints do not count. */
function newestEnd(hints: readonly Hint[]): number | undefined {
  const ends = hints.filter(({ outcome }) => outcome === 'ended').map(({ endedMs = 0 }) => endedMs)
  return ends.length === 0 ? undefined : Math.max(...ends)
}

function totalsOf(devices: readonly DeviceInfo[], columns: ReadonlyMap<string, DeviceColumns>, span: ReadSpan): Totals {
  const sum = (values: readonly (Float64Array | undefined)[]): number => {
    const known = values.map((column) => meanReading(column, span).value).filter((value) => !Number.isNaN(value))
    return known.length === 0 ? Number.NaN : known.reduce((total, value) => total + value, 0)
  }
  const all = [...columns.values()]
  return {
    silentCount: silentCountOf(devices, columns, span),
    power: sum(all.map(({ power }) => power)),
    sent: sum(all.map(({ sent, interfaceSent }) => sent ?? interfaceSent)),
  }
}
