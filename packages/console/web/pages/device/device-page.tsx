import type { Labels, LatestSeries, MetricQuery, QueryFunction } from '@sonde/sdk/api'
import { type ReactNode, useMemo } from 'react'
import { Link } from 'wouter'
import { type DeviceInfo, useDevices } from '../../api/devices.ts'
import type { FrameRange } from '../../api/frame.ts'
import { type KnownColumns, useKnownColumns } from '../../api/use-known-columns.ts'
import { type TypedSeries, useTypedSeries } from '../../api/use-typed-series.ts'
import { AnswerState, Outlines } from '../../components/answer-state.tsx'
import { Empty } from '../../components/empty.tsx'
import { PanelBoundary } from '../../components/error-boundary.tsx'
import { type Fact, Facts } from '../../components/facts.tsx'
import { PageHead } from '../../components/page-head.tsx'
import { devicePath, deviceTitle, isSeriesOf, linkPath, matchersFor } from '../../devices/device.ts'
import {
  type DeviceReading,
  lastValue,
  meanReading,
  meansWords,
  newestReading,
  type ReadSpan,
  readingOfNow,
} from '../../devices/device-reading.ts'
import { deviceSentence, goneWords } from '../../devices/device-sentence.ts'
import { worstByDevice } from '../../devices/hint-words.ts'
import { deviceAt } from '../../devices/moment-hints.ts'
import { useSecond } from '../../state/clock.ts'
import { usePageState } from '../../state/time-window.ts'
import { CounterTable } from '../counters/counter-table.tsx'
import { deviceQuestion } from '../grafana/grafana-address.ts'
import { GrafanaLink } from '../grafana/grafana-link.tsx'
import { HintHeadline } from '../hint-headline.tsx'
import { type PageMoment, useMoment } from '../use-moment.ts'
import { useMomentHints, useSpokenMoment } from '../use-moment-hints.ts'
import { usePageTitle } from '../use-page-title.ts'
import { awaitedFact, type Judge, judgeBy } from './facts.ts'
import { type DeviceSection, PanelSections, SectionLinks } from './panel-sections.tsx'
import { columnsOf, isOfLine, panelQueries, queryOf } from './panels.ts'
import { Relations } from './relations.tsx'

/**
 * Reads a number of a metric for the device of the page or for `of`. Of several series, such as priorities, reads the
 * largest. For a past window reads the mean and the extremes.
 */
type ReadDevice = (metric: string, fn?: QueryFunction, of?: DeviceInfo) => DeviceReading

/** Input of the facts: samples of the panels, newest or over the window, and exact values. */
export interface DeviceReadings {
  /** The state that rules report for metrics of the device. */
  readonly judge: Judge
  /** The newest sample, or the mean of a past window; NaN if there is none. */
  readonly newest: ReadDevice
  /** The last sample, for states and limits; NaN if there is none. */
  readonly last: (metric: string) => number
  /** The mean of the newest samples, as in tiles; NaN if there is none. */
  readonly mean: ReadDevice
  /** The exact value of the last reading, or of the history if the page shows the past; undefined if absent. */
  readonly exact: (metric: string, labels?: Labels) => string | undefined
  /** The labels of the series of an info metric; of the window, if the page shows the past. */
  readonly infos: (metric: string) => readonly Labels[]
  /** The samples of every series of a metric of the device. The last known sample is at the end. */
  readonly all: (metric: string) => readonly { readonly labels: Labels; readonly values: Float64Array }[]
}

interface DevicePageProps {
  readonly device: DeviceInfo
  readonly parent: { readonly label: string; readonly path: string }
  /** The device that rules name if it is another device, such as the NIC of a PCIe link. Default: the device. */
  readonly subject?: DeviceInfo | undefined
  /** Words beside the name. */
  readonly note: readonly string[]
  readonly sections: readonly DeviceSection[]
  /** Types whose fields fill the table of counters. */
  readonly types: readonly string[]
  readonly facts: (readings: DeviceReadings) => readonly Fact[]
  /** Metrics that facts read with {@link DeviceReadings.exact} and {@link DeviceReadings.all}. */
  readonly totals?: readonly string[]
  /** The sentence of the page. Default: what rules say of the device. */
  readonly headline?: ReactNode
  /** Content before the charts. */
  readonly lead?: ReactNode
  /** Content between the charts and the counters. */
  readonly children?: ReactNode
}

/** How often exact values are read. Rates cover the time between two readings. */
const LATEST_EVERY_MS = 5_000
const NOT_READ = readingOfNow(Number.NaN)
const NO_TOTALS: readonly string[] = []
/** How long before its departure a silent device is searched. Longer than the server waits before it drops a device. */
const LAST_KNOWN_MS = 900_000
/** How long after the departure the driver may still report the cause. */
const LAST_WORD_MS = 5_000

/** Everything about a device: hints, facts, charts and all counters. */
export function DevicePage({
  device,
  parent,
  subject = device,
  note,
  sections,
  types,
  facts,
  totals = NO_TOTALS,
  headline,
  lead,
  children,
}: DevicePageProps) {
  const title = deviceTitle(device)
  usePageTitle(title)
  const page = usePageState()
  const moment = useMoment()
  const latest = useLatest(device, types)
  const panels = useMemo(() => sections.flatMap((section) => section.panels), [sections])
  const queries = useMemo(
    () => [
      ...panelQueries(device, panels),
      ...totals.flatMap((metric) => queryOf(device, { metric, function: 'last' }) ?? []),
    ],
    [device, panels, totals],
  )
  const range = useLastKnownRange(device, moment)
  const recent = useKnownColumns(queries, range, moment.stepMs)
  const judge = useJudge(subject, moment)
  const readings = useMemo(
    () => ({ ...readingsOf(device, recent, moment, moment.isNow ? (latest.data ?? []) : []), judge }),
    [device, recent, latest.data, moment, judge],
  )
  const isAwaited = latest.data === undefined && latest.error === undefined
  const isUnknown = latest.data === undefined && latest.error !== undefined
  const gone = goneWords(device, page.url.tz ?? 'utc')
  return (
    <>
      <PageHead
        title={title}
        parent={{ label: parent.label, href: page.hrefTo(parent.path) }}
        note={[...note, figuresNote(device, moment)].filter(Boolean).join(' · ')}
      >
        <DeviceLinks device={device} />
      </PageHead>
      <SectionLinks sections={sections} />
      {headline ?? (
        <DeviceHeadline device={subject} isSilent={subject === device && isSilentIn(device, queries, recent, moment)} />
      )}
      <Facts
        label={factsLabel(title, device, moment)}
        facts={recent.isReady ? facts(readings) : facts(readings).map(awaitedFact)}
      />
      <Relations device={device} />
      {lead}
      <AnswerState answer={recent} panels={panels.length} />
      {recent.isReady && isAwaited && <Outlines panels={panels.length} waitsFor="the exact values of the device" />}
      {recent.isReady && !isAwaited && (
        <PanelSections
          device={device}
          subject={subject}
          sections={sections}
          readings={readings}
          latest={latest.data}
          catalogue={latest.catalogue}
        />
      )}
      {children}
      {isUnknown && (
        <Empty icon="critical" fact="The counters are not known.">
          {latest.error?.message}
        </Empty>
      )}
      {latest.types.length > 0 && !isUnknown && (
        <PanelBoundary>
          <CounterTable
            types={latest.types}
            latest={latest.data}
            matchersFor={(metric) => matchersFor(device, metric)}
            shared={device.labels}
            goneWords={gone}
          />
        </PanelBoundary>
      )}
    </>
  )
}

/** The range that facts are read from: the moment of the page, or the last minutes of a device that left. */
function useLastKnownRange({ goneMs }: DeviceInfo, { range, isNow }: PageMoment): FrameRange {
  const isSettled = useSecond() > (goneMs ?? 0) + LAST_WORD_MS
  return useMemo(
    () =>
      isNow && goneMs !== undefined
        ? { kind: 'fixed', fromMs: goneMs - LAST_KNOWN_MS, toMs: goneMs + (isSettled ? LAST_WORD_MS : 0) }
        : range,
    [goneMs, isSettled, range, isNow],
  )
}

function figuresNote({ state }: DeviceInfo, moment: PageMoment): string {
  return moment.isNow && state === 'gone' ? 'figures are the last known' : `figures are ${meansWords(moment)}`
}

function factsLabel(title: string, { state }: DeviceInfo, { isNow }: PageMoment): string {
  if (!isNow) return `${title} in the window`
  return state === 'gone' ? `${title} as it was last known` : `${title} now`
}

/** The given types of the node, and their latest values of the device; these are undefined before the first answer. */
function useLatest(
  device: DeviceInfo,
  names: readonly string[],
): Omit<TypedSeries, 'series'> & { readonly data: readonly LatestSeries[] | undefined } {
  const { series, ...others } = useTypedSeries(names, LATEST_EVERY_MS)
  const data = useMemo(
    () => series?.filter(({ metric, labels }) => isSeriesOf(device, metric, labels)),
    [series, device],
  )
  return { ...others, data }
}

/** Colours facts by the hints of a device at the moment of the page. */
function useJudge(subject: DeviceInfo, moment: PageMoment): Judge {
  const { hints } = useMomentHints(moment)
  return useMemo(() => {
    const own = hints.filter(({ device }) => device === subject.id)
    return judgeBy(own, deviceTitle(subject))
  }, [hints, subject])
}

function readingsOf(
  device: DeviceInfo,
  recent: KnownColumns,
  span: ReadSpan,
  latest: readonly LatestSeries[],
): Omit<DeviceReadings, 'judge'> {
  const read =
    (summary: (values: Float64Array, span: ReadSpan) => DeviceReading): ReadDevice =>
    (metric, fn = 'last', of = device) => {
      const { grid } = recent
      if (!grid) return NOT_READ
      const columns = columnsOf(of, { metric, function: fn }, recent)
      const readings = columns
        .map((column) => summary(lastKnown(of, grid.slice(column)), span))
        .filter(({ value }) => !Number.isNaN(value))
      return readings.reduce((most, one) => (one.value > most.value ? one : most), readings[0] ?? NOT_READ)
    }
  const readLast = read((values) => readingOfNow(lastValue(values, span)))
  const last = (metric: string): number => readLast(metric).value
  const all: DeviceReadings['all'] = (metric) => {
    const { grid } = recent
    if (!grid) return []
    return columnsOf(device, { metric, function: 'last' }, recent).map((column) => ({
      labels: column.labels,
      values: grid.slice(column),
    }))
  }
  const told = (metric: string): string | undefined => {
    const value = last(metric)
    return Number.isNaN(value) ? undefined : String(value)
  }
  return {
    newest: read(newestReading),
    last,
    mean: read(meanReading),
    exact: (metric, labels) => {
      const series = latest.find((one) => isOfLine({ metric, labels }, one))
      return series ? (series.value ?? undefined) : told(metric)
    },
    infos: (metric) => {
      const said = latest.filter((one) => one.metric === metric && one.value !== null)
      const seen = () => all(metric).filter(({ values }) => values.some((value) => value > 0))
      return (span.isNow ? said : seen()).map(({ labels }) => labels)
    },
    all,
  }
}

/** The samples of a departed device, cut after its last sample. The end then holds the last known value. */
function lastKnown({ state }: DeviceInfo, values: Float64Array): Float64Array {
  return state === 'gone' ? values.subarray(0, values.findLastIndex((value) => !Number.isNaN(value)) + 1) : values
}

/** Links to the neighbouring devices, the PCIe link, and the page that explains the device. */
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
      <Link className="button" href={page.hrefTo('/incidents', { device: device.id })}>
        Incidents
      </Link>
      <Link className="button" href={page.hrefTo('/explain', { of: device.id })}>
        Explain
      </Link>
      <GrafanaLink question={deviceQuestion(device)} />
    </>
  )
}

/** Whether no query has a recent value; false before the first answer. */
function isSilentIn(
  { kind }: DeviceInfo,
  queries: readonly MetricQuery[],
  recent: KnownColumns,
  span: ReadSpan,
): boolean {
  const { isReady, grid } = recent
  if (!isReady || grid === undefined) return false
  const found = queries.flatMap((query) => recent.columns(query))
  // A bridge has no values, but its link is still checked by rules.
  if (found.length === 0) return kind === 'gpu' || kind === 'nic'
  return found.every((column) => Number.isNaN(lastValue(grid.slice(column), span)))
}

function DeviceHeadline({ device, isSilent }: { readonly device: DeviceInfo; readonly isSilent: boolean }) {
  const moment = useMoment()
  const seen = useMomentHints(moment)
  const spoken = useSpokenMoment(moment)
  if (!seen.data && !seen.error) return <div className="headline is-awaited" />
  const text = deviceSentence(deviceAt(device, moment.toMs), seen, spoken, { isSilent })
  const worst = worstByDevice(seen.hints).get(device.id)
  return <HintHeadline text={text} moment={moment.words} toMs={moment.toMs} worst={worst} />
}
