import type { Hint, MetricQuery } from '@sonde/sdk/api'
import { useMemo } from 'react'
import { Link } from 'wouter'
import { type DeviceInfo, useDevices } from '../../api/devices.ts'
import { useNode } from '../../api/resources.ts'
import { useKnownColumns } from '../../api/use-known-columns.ts'
import { AnswerState, Outlines } from '../../components/answer-state.tsx'
import { Empty } from '../../components/empty.tsx'
import { PanelBoundary } from '../../components/error-boundary.tsx'
import { Headline } from '../../components/headline.tsx'
import { PageHead } from '../../components/page-head.tsx'
import { SimulatedOffer } from '../../components/simulated-offer.tsx'
import { useFirstLook } from '../../components/use-first-look.ts'
import { devicePath, deviceTitle } from '../../devices/device.ts'
import { deviceColumns, silentCountOf } from '../../devices/device-columns.ts'
import { meanReading } from '../../devices/device-reading.ts'
import { allHints, devicesAt, unknownWords } from '../../devices/moment-hints.ts'
import { nodeSentence } from '../../devices/node-sentence.ts'
import { GPU_QUERIES } from '../../devices/signals.ts'
import { countText } from '../../format/number.ts'
import { usePageState } from '../../state/time-window.ts'
import type { DeviceChartName } from '../device-charts.ts'
import { DeviceCharts } from '../device-charts-grid.tsx'
import { useMoment } from '../use-moment.ts'
import { useMomentHints, useSpokenMoment } from '../use-moment-hints.ts'
import { usePageTitle } from '../use-page-title.ts'
import { GpuTable } from './gpu-table.tsx'

const QUERIES: readonly MetricQuery[] = Object.values(GPU_QUERIES)
const CHARTS: readonly DeviceChartName[] = [
  'sm',
  'tensor',
  'dram',
  'power',
  'temperature',
  'clock',
  'memoryUsed',
  'nvlinkSent',
  'utilisation',
]

/** The page that compares all GPUs. */
export function GpusPage() {
  usePageTitle('GPUs')
  const { data, error } = useDevices()
  const { data: node } = useNode()
  const firstLook = useFirstLook()
  const gpus = useMemo(() => data?.devices.filter(({ kind }) => kind === 'gpu'), [data])
  return (
    <>
      <PageHead title="GPUs" note={gpus && gpus.length > 0 && node?.hardware.gpus} />
      {!gpus && !error && <Outlines panels={6} waitsFor="the list of devices" />}
      {!gpus && error && (
        <Empty icon="critical" fact="The GPUs are not known.">
          {error.message}
        </Empty>
      )}
      {gpus?.length === 0 && firstLook !== '' && <Outlines panels={6} waitsFor={firstLook} />}
      {gpus?.length === 0 && firstLook === '' && (
        <>
          <Empty fact="No GPU is read here.">
            With a driver of NVIDIA on this machine, add <code className="mono">type: nvml</code> to{' '}
            <code className="mono">data_sources</code>; with dcgm-exporter, add{' '}
            <code className="mono">type: dcgm_exporter</code> and its address.
          </Empty>
          <SimulatedOffer />
        </>
      )}
      {gpus && gpus.length > 0 && <Gpus gpus={gpus} />}
    </>
  )
}

function Gpus({ gpus: known }: { readonly gpus: readonly DeviceInfo[] }) {
  const moment = useMoment()
  const seen = useMomentHints(moment)
  const spoken = useSpokenMoment(moment)
  const gpus = useMemo(() => devicesAt(known, moment.toMs), [known, moment.toMs])
  const recent = useKnownColumns(QUERIES, moment.range, moment.stepMs)
  const columns = useMemo(() => deviceColumns(gpus, recent), [gpus, recent])
  const { hints: shown, ended } = seen
  const { hints, elsewhere, marked } = useMemo(() => {
    const ids = new Set(gpus.map(({ id }) => id))
    const isHere = ({ device, affected }: Hint): boolean => ids.has(device) || affected.some((id) => ids.has(id))
    return {
      hints: shown.filter(isHere),
      elsewhere: shown.filter((hint) => !isHere(hint)),
      marked: allHints({ hints: shown, ended }).filter(isHere),
    }
  }, [gpus, shown, ended])
  const power = [...columns.values()].reduce((sum, own) => sum + (meanReading(own.power, moment).value || 0), 0)
  const text = nodeSentence({
    devices: gpus,
    noun: ['GPU', 'GPUs'],
    hints,
    isKnown: seen.isKnown,
    unknown: moment.isNow ? '' : unknownWords(seen.unknown, spoken.zone),
    elsewhere,
    ruleCount: seen.data?.rules ?? 0,
    blindCount: seen.data?.blind.length ?? 0,
    silentCount: silentCountOf(gpus, columns, moment),
    lastEndedMs: undefined,
    power: power || Number.NaN,
    sent: Number.NaN,
    moment: spoken,
  })
  return (
    <>
      {recent.isReady && (
        <Headline
          text={text}
          moment={moment.words}
          announced={hints[0]?.title ?? countText(gpus.length, 'GPU')}
          actions={<HintLink hint={hints[0] ?? elsewhere[0]} />}
        />
      )}
      {recent.isReady && (
        <PanelBoundary>
          <GpuTable
            gpus={gpus}
            columns={columns}
            hints={hints}
            isJudged={seen.isKnown}
            moment={moment}
            answer={recent}
          />
        </PanelBoundary>
      )}
      <AnswerState answer={recent} panels={9} />
      {recent.isReady && <DeviceCharts names={CHARTS} devices={gpus} hints={marked} />}
    </>
  )
}

/** Link to the page of the device of a hint, or to the overview if the hint has no single device. */
function HintLink({ hint }: { readonly hint: Hint | undefined }) {
  const page = usePageState()
  const { data } = useDevices()
  if (!hint) return null
  const device = data?.devices.find(({ id }) => id === hint.device)
  return (
    <Link className="button" href={page.hrefTo(device ? devicePath(device) : '/')}>
      Go to {device ? deviceTitle(device) : 'the node'}
    </Link>
  )
}
