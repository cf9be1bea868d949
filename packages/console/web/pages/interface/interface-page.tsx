import type { LatestSeries, ListedType, MetricQuery } from '@sonde/sdk/api'
import { useMemo } from 'react'
import { Link } from 'wouter'
import type { QueryColumns } from '../../api/query-client.ts'
import { useKnownColumns } from '../../api/use-known-columns.ts'
import { useTypedSeries } from '../../api/use-typed-series.ts'
import { ChartGrid } from '../../chart/chart-grid.tsx'
import { newestPosition } from '../../chart/gaps.ts'
import { AnswerState } from '../../components/answer-state.tsx'
import { Empty } from '../../components/empty.tsx'
import { PanelBoundary } from '../../components/error-boundary.tsx'
import { Facts } from '../../components/facts.tsx'
import { Headline } from '../../components/headline.tsx'
import { PageHead } from '../../components/page-head.tsx'
import { StateMark } from '../../components/state-mark.tsx'
import { type InterfaceColumns, interfaceColumns } from '../../devices/interface-data.ts'
import { GONE_STATE, interfaceFact, interfaceState, NOT_READ_STATE } from '../../devices/interface-facts.ts'
import { formatDateTime, zoneName } from '../../format/time.ts'
import { usePageState } from '../../state/time-window.ts'
import { CounterTable } from '../counters/counter-table.tsx'
import { deviceQuestion } from '../grafana/grafana-address.ts'
import { GrafanaLink } from '../grafana/grafana-link.tsx'
import { useMoment } from '../use-moment.ts'
import { usePageTitle } from '../use-page-title.ts'
import { interfaceFacts, interfaceHeadline } from './interface-facts-strip.ts'
import { INTERFACE_TYPES, interfacePanels, interfaceQueries } from './interface-panels.ts'
import { portQuality, priorityQueries } from './priority-rows.ts'
import { QualityOfService } from './quality-of-service.tsx'

const QUALITY_TYPES: readonly string[] = ['dcb_port']
/** How often exact values are read. */
const LATEST_EVERY_MS = 2_000

/** The page of an interface: state, a chart per counter, and the exact numbers. */
export function InterfacePage({ device }: { readonly device: string }) {
  usePageTitle(device)
  const page = usePageState()
  const { types, series, error } = useTypedSeries(INTERFACE_TYPES, LATEST_EVERY_MS)
  const latest = useMemo(() => series?.filter(({ labels }) => labels.device === device) ?? [], [series, device])
  const queries = useMemo(() => interfaceQueries(types, device), [types, device])
  const moment = useMoment()
  const recent = useKnownColumns(queries, moment.range, moment.stepMs)
  const row = useMemo(() => recentRow(recent, queries, device), [recent, queries, device])
  const fact = row && interfaceFact(row, moment)
  // An interface is gone only if an answer lists no live series for it. A missing answer proves nothing.
  const isGone = series !== undefined && latest.length === 0
  const state = isGone ? (row ? GONE_STATE : NOT_READ_STATE) : interfaceState(fact)
  const isKnown = isGone || recent.isReady
  // Exact values exist only for the present.
  const exact = moment.isNow ? latest : []
  return (
    <>
      <PageHead
        title={device}
        parent={{ label: 'Fabric', href: page.hrefTo('/fabric') }}
        note={isKnown && <StateMark tone={state.tone} word={state.word} />}
      >
        <GrafanaLink question={deviceQuestion({ kind: 'netdev', host: '', labels: { device } })} />
      </PageHead>
      {error && !series && (
        <Empty icon="critical" fact="The counters are not known.">
          {error.message}
        </Empty>
      )}
      {isGone && recent.isReady && <Gone device={device} recent={recent} row={row} />}
      {row && fact && !(isGone && moment.isNow) && (
        <>
          <Headline text={interfaceHeadline(fact, row, exact, moment)} moment={moment.words} />
          <Facts
            label={moment.isNow ? `${device} now` : `${device} in the window`}
            facts={interfaceFacts(row, exact, moment)}
          />
        </>
      )}
      <Quality device={device} />
      <AnswerState answer={recent} panels={9} />
      {types.length > 0 && recent.grid && recent.isReady && (
        <Panels types={types} queries={queries} latest={latest} isGone={isGone} />
      )}
      {latest.length > 0 && types.length > 0 && (
        <PanelBoundary>
          <CounterTable
            types={types}
            latest={latest}
            matchersFor={() => [{ label: 'device', op: '=', value: device }]}
          />
        </PanelBoundary>
      )}
    </>
  )
}

/** Settings and traffic of priorities; nothing for an interface without them. */
function Quality({ device }: { readonly device: string }) {
  const moment = useMoment()
  const { series } = useTypedSeries(QUALITY_TYPES, LATEST_EVERY_MS)
  const queries = useMemo(() => priorityQueries(device), [device])
  const answer = useKnownColumns(queries, moment.range, moment.stepMs)
  const quality = useMemo(() => portQuality(answer, device, moment), [answer, device, moment])
  if (quality === undefined) return null
  const own = series?.filter(({ labels }) => labels.device === device) ?? []
  return (
    <PanelBoundary>
      <QualityOfService quality={quality} span={moment} series={own} />
    </PanelBoundary>
  )
}

function Panels({
  types,
  queries,
  latest,
  isGone,
}: {
  readonly types: readonly ListedType[]
  readonly queries: readonly MetricQuery[]
  readonly latest: readonly LatestSeries[]
  readonly isGone: boolean
}) {
  const page = usePageState()
  const answer = useKnownColumns(queries, page.range, page.stepMs)
  const panels = useMemo(() => interfacePanels(types, queries, answer, latest), [types, queries, answer, latest])
  if (isGone && panels.every(({ spec }) => spec.members.length === 0)) return null
  return <ChartGrid charts={panels} />
}

function Gone({
  device,
  recent,
  row,
}: {
  readonly device: string
  readonly recent: QueryColumns
  readonly row: InterfaceColumns | undefined
}) {
  const page = usePageState()
  const zone = page.url.tz ?? 'utc'
  const columns = Object.values(row?.columns ?? {})
  const at = recent.grid ? newestPosition(columns, 0, recent.grid.length - 1) : -1
  const lastMs = recent.grid?.times[at]
  if (!page.isLive) {
    return (
      <Empty icon="warning" fact={`${device} is not read now.`}>
        The charts show its history in this window.
      </Empty>
    )
  }
  return lastMs === undefined ? (
    <Empty fact={`No interface or port named ${device} is read here.`}>
      It is neither in /proc/net/dev nor in /sys/class/infiniband, or the configuration leaves it out.{' '}
      <Link href={page.hrefTo('/fabric')}>All interfaces</Link>
    </Empty>
  ) : (
    <Empty icon="warning" fact={`${device} is gone since ${formatDateTime(lastMs, zone)} ${zoneName(zone, lastMs)}.`}>
      It left /proc/net/dev. Its history is kept, and its series come back when it does.
    </Empty>
  )
}

/** The recent samples of the interface, as input of the headline. */
function recentRow(
  recent: QueryColumns,
  queries: readonly MetricQuery[],
  device: string,
): InterfaceColumns | undefined {
  const asked = new Map(queries.map((query) => [query.metric, query]))
  return interfaceColumns({
    ...recent,
    columns: (query) => recent.columns(asked.get(query.metric) ?? query),
  }).find((row) => row.device === device)
}
