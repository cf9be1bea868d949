import { type ReactNode, useMemo } from 'react'
import { Link } from 'wouter'
import { type DeviceInfo, useDevices } from '../../api/devices.ts'
import { type Hint, useHints } from '../../api/hints.ts'
import { useSeriesOfTypes, useTypes } from '../../api/resources.ts'
import type { QueryFunction, SeriesValue, TypeInfo } from '../../api/types.ts'
import { type KnownColumns, useKnownColumns } from '../../api/use-known-columns.ts'
import { useComparedColumns } from '../../api/use-speed.ts'
import { ChartGrid } from '../../chart/chart-grid.tsx'
import { AnswerState, Outlines } from '../../components/answer-state.tsx'
import { Empty } from '../../components/empty.tsx'
import { PanelBoundary } from '../../components/error-boundary.tsx'
import { type Fact, Facts } from '../../components/facts.tsx'
import { Headline } from '../../components/headline.tsx'
import { PageHead } from '../../components/page-head.tsx'
import { StateMark } from '../../components/state-mark.tsx'
import { devicePath, deviceTitle, isSeriesOf, linkPath, matchersFor } from '../../devices/device.ts'
import { recentMean, TILE_SPAN_MS } from '../../devices/device-columns.ts'
import { deviceSentence } from '../../devices/device-sentence.ts'
import { hintState, tileWordsOf } from '../../devices/hint-words.ts'
import { formatDuration } from '../../format/time.ts'
import { useSecond } from '../../state/clock.ts'
import { usePageState } from '../../state/time-window.ts'
import { CounterTable } from '../counters/counter-table.tsx'
import { useMarks } from '../device-charts-grid.tsx'
import { newestValue } from '../interface-data.ts'
import { evidenceSignals } from '../node/evidence.ts'
import { useMoment } from '../use-moment.ts'
import { usePageTitle } from '../use-page-title.ts'
import { columnsOf, type DevicePanel, devicePanels, panelQueries } from './panels.ts'

/** Reads a number of a metric, the largest of several series such as priorities: of the device of the page, or of another. */
type ReadDevice = (metric: string, fn?: QueryFunction, of?: DeviceInfo) => number

/** What facts are made from: newest samples of the panels' questions, and exact values. */
export interface DeviceReadings {
  /** The newest sample, NaN where there is none. */
  readonly newest: ReadDevice
  /** The mean of the newest samples, as tiles have it; NaN where there is none. */
  readonly mean: ReadDevice
  /** The exact value as it was read last; undefined where it is absent, or where the page does not speak of now. */
  readonly exact: (metric: string) => string | undefined
}

interface DevicePageProps {
  readonly device: DeviceInfo
  readonly parent: { readonly label: string; readonly path: string }
  /** The device that rules speak of, where that is another: the NIC of a PCIe link. Default: the device. */
  readonly subject?: DeviceInfo | undefined
  /** Words of the line beside the name. */
  readonly note: readonly string[]
  readonly panels: readonly DevicePanel[]
  /** Types whose fields are the table of counters. */
  readonly types: readonly string[]
  readonly facts: (readings: DeviceReadings) => readonly Fact[]
  /** Stands before the charts. */
  readonly lead?: ReactNode
  /** Stands between the charts and the counters. */
  readonly children?: ReactNode
}

/** How often exact values are read. Their rates are of the time between two readings. */
const LATEST_EVERY_MS = 5_000
const NO_HINTS: readonly Hint[] = []
const NO_TYPES: readonly TypeInfo[] = []

/** The device of an address; what stands there while it is not known, or where there is none. */
export function DeviceOf({
  id,
  kinds,
  children,
}: {
  readonly id: string
  /** Words for what was looked for. */
  readonly kinds: { readonly one: string; readonly path: string; readonly label: string }
  readonly children: (devices: readonly DeviceInfo[]) => ReactNode
}) {
  const page = usePageState()
  const { data, error } = useDevices()
  if (!data) {
    return error ? (
      <Empty icon="critical" fact="The devices are not known.">
        {error.message}
      </Empty>
    ) : (
      <>
        <PageHead title={id} />
        <Outlines panels={6} />
      </>
    )
  }
  const content = children(data.devices)
  if (content) return content
  return (
    <>
      <PageHead title={id} parent={{ label: kinds.label, href: page.hrefTo(kinds.path) }} />
      <Empty fact={`No ${kinds.one} named ${id} is known here.`}>
        It is not among the {data.devices.length} devices of this node.{' '}
        <Link href={page.hrefTo(kinds.path)}>{kinds.label}</Link>
      </Empty>
    </>
  )
}

/** Everything about one device: what rules say, facts, charts, and every counter. */
export function DevicePage({
  device,
  parent,
  subject = device,
  note,
  panels,
  types,
  facts,
  lead,
  children,
}: DevicePageProps) {
  const title = deviceTitle(device)
  usePageTitle(title)
  const page = usePageState()
  const moment = useMoment()
  const catalogue = useTypes().data?.types ?? NO_TYPES
  // In the order of the page: the catalogue's is that in which sources answered.
  const known = useMemo(
    () => types.flatMap((name) => catalogue.find((type) => type.name === name) ?? []),
    [catalogue, types],
  )
  const latest = useLatest(device, known)
  const queries = useMemo(() => panelQueries(device, panels), [device, panels])
  const recent = useKnownColumns(queries, moment.range, moment.stepMs)
  const readings = useMemo(
    () => readingsOf(device, recent, moment.isNow ? latest : []),
    [device, recent, latest, moment.isNow],
  )
  return (
    <>
      <PageHead
        title={title}
        parent={{ label: parent.label, href: page.hrefTo(parent.path) }}
        note={[...note, `figures are means of ${formatDuration(TILE_SPAN_MS)}`].filter(Boolean).join(' · ')}
      >
        <DeviceLinks device={device} />
      </PageHead>
      <DeviceHeadline device={subject} />
      {recent.isReady && (
        <Facts label={moment.isNow ? `${title} now` : `${title} where the window ends`} facts={facts(readings)} />
      )}
      {lead}
      <AnswerState answer={recent} panels={9} />
      {recent.isReady && (
        <Panels device={device} subject={subject} panels={panels} latest={latest} catalogue={catalogue} />
      )}
      {children}
      {known.length > 0 && (
        <PanelBoundary>
          <CounterTable types={known} latest={latest} matchersFor={(metric) => matchersFor(device, metric)} />
        </PanelBoundary>
      )}
    </>
  )
}

/** The latest values of the device's series of some types. */
function useLatest(device: DeviceInfo, types: readonly TypeInfo[]): readonly SeriesValue[] {
  const names = useMemo(() => types.map(({ name }) => name), [types])
  const { data } = useSeriesOfTypes(names, LATEST_EVERY_MS)
  return useMemo(
    () => data?.series.filter(({ metric, labels }) => isSeriesOf(device, metric, labels)) ?? [],
    [data, device],
  )
}

function readingsOf(device: DeviceInfo, recent: KnownColumns, latest: readonly SeriesValue[]): DeviceReadings {
  const read =
    (summary: (values: Float64Array, stepMs: number) => number): ReadDevice =>
    (metric, fn = 'last', of = device) => {
      const { grid, stepMs } = recent
      if (!grid) return Number.NaN
      const columns = columnsOf(of, { metric, function: fn }, recent)
      const values = columns
        .map((column) => summary(grid.slice(column), stepMs))
        .filter((value) => !Number.isNaN(value))
      return values.length === 0 ? Number.NaN : Math.max(...values)
    }
  return {
    newest: read((values) => newestValue(values)),
    mean: read(recentMean),
    exact: (metric) => latest.find((series) => series.metric === metric)?.value ?? undefined,
  }
}

/** The devices beside it, its PCIe link, and the walk that explains it. */
function DeviceLinks({ device }: { readonly device: DeviceInfo }) {
  const page = usePageState()
  const { data } = useDevices()
  const pairs = data?.devices.filter(({ id }) => device.pairs.includes(id)) ?? []
  const link = device.kind === 'pci' ? undefined : linkPath(device)
  return (
    <>
      {pairs.map((pair) => (
        <Link key={pair.id} className="button" href={page.hrefTo(devicePath(pair))}>
          {deviceTitle(pair)}
        </Link>
      ))}
      {link && (
        <Link className="button" href={page.hrefTo(link)}>
          PCIe link
        </Link>
      )}
      <Link className="button" href={page.hrefTo('/explain', { of: device.id })}>
        Explain
      </Link>
    </>
  )
}

function DeviceHeadline({ device }: { readonly device: DeviceInfo }) {
  const page = usePageState()
  const moment = useMoment()
  const { data } = useHints()
  const nowMs = useSecond()
  const hints = moment.isNow ? data?.hints : undefined
  const text = deviceSentence(device, hints, { nowMs, zone: page.url.tz ?? 'utc' })
  const worst = hints?.find((hint) => hint.device === device.id)
  return (
    <Headline
      text={text}
      moment={moment.words}
      announced={worst?.title ?? text.sentence}
      actions={
        worst &&
        worst.evidence.length > 0 && (
          <Link className="button is-primary" href={page.hrefTo('/explore', { sig: evidenceSignals(worst) })}>
            See the evidence
          </Link>
        )
      }
    />
  )
}

/** State of a device as hints have it, for tables. */
export function DeviceState({ device, hint }: { readonly device: DeviceInfo; readonly hint: Hint | undefined }) {
  if (hint) {
    const words = tileWordsOf(hint, deviceTitle(device))
    return <StateMark tone={hintState(hint).tone} word={`${words.charAt(0).toUpperCase()}${words.slice(1)}`} />
  }
  if (device.state === 'gone') return <StateMark tone="warning" word="Gone" />
  return <StateMark tone="ok" word="In range" />
}

function Panels({
  device,
  subject,
  panels,
  latest,
  catalogue,
}: {
  readonly device: DeviceInfo
  readonly subject: DeviceInfo
  readonly panels: readonly DevicePanel[]
  readonly latest: readonly SeriesValue[]
  readonly catalogue: readonly TypeInfo[]
}) {
  const page = usePageState()
  const { data } = useHints()
  const queries = useMemo(() => panelQueries(device, panels), [device, panels])
  const answer = useComparedColumns(queries, page)
  const knownMetrics = useMemo(
    () => new Set(catalogue.flatMap(({ fields }) => fields.map(({ metric }) => metric))),
    [catalogue],
  )
  const concerned = useMemo(() => {
    const all = data ? [...data.hints, ...data.ended] : NO_HINTS
    return all.filter((hint) => hint.device === subject.id || hint.affected.includes(subject.id))
  }, [data, subject.id])
  const marks = useMarks(concerned)
  const charts = useMemo(
    () => devicePanels(device, panels, answer, { latest, knownMetrics, marks }),
    [device, panels, answer, latest, knownMetrics, marks],
  )
  return <ChartGrid charts={charts} />
}
