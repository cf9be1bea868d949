import type { Hint, IncidentAnswer, MetricQuery } from '@sonde/sdk/api'
import { useMemo } from 'react'
import { Link } from 'wouter'
import { useNode } from '../../api/resources.ts'
import { useKnownColumns } from '../../api/use-known-columns.ts'
import { ChartGrid } from '../../chart/chart-grid.tsx'
import type { ChartSpec } from '../../chart/chart-spec.ts'
import { AnswerState } from '../../components/answer-state.tsx'
import { formatSignal } from '../../state/signal.ts'
import { usePageState } from '../../state/time-window.ts'
import { type ExplorerLane, explorerLanes } from '../explore/explorer-lanes.ts'
import { type IncidentMarks, useIncidentRange } from './incident-range.ts'
import { useMetricTitles } from './metric-titles.ts'

/** Most signals that are drawn. */
const SIGNAL_COUNT = 4
/** A number of the chart is the number of the sentence if they differ by at most this share. */
const SAME_SHARE = 0.05
/** Labels of a query that choose between real and simulated series. */
const KEPT_LABELS = new Set(['simulated'])

/** The signals of the rule around the incident: the device among its siblings, with the limit and the onset. */
export function EvidenceCharts({
  answer: of,
  marks,
}: {
  readonly answer: IncidentAnswer
  readonly marks: IncidentMarks
}) {
  const { incident } = of
  const page = usePageState()
  const node = useNode().data
  const titleOf = useMetricTitles()
  const { isSimulated } = incident
  const [cause] = incident.hints
  const asked = JSON.stringify((cause?.evidence ?? []).slice(0, SIGNAL_COUNT).map(withSiblings))
  const queries = useMemo(() => JSON.parse(asked) as MetricQuery[], [asked])
  const { range, stepMs } = useIncidentRange(of)
  const answer = useKnownColumns(queries, range, stepMs)
  const charts = useMemo(
    () =>
      queries.flatMap((query, at) =>
        explorerLanes([query], answer, { simulated: node?.simulated === true }).map((lane) => ({
          spec: specOf(lane, { cause, at, marks, title: titleOf(query.metric).title, isSimulated }),
          answer,
        })),
      ),
    [queries, answer, node, cause, marks, titleOf, isSimulated],
  )
  if (cause === undefined) return null
  const sig = cause.evidence.map(formatSignal)
  const { fromMs, toMs } = range
  const raw = page.hrefTo('/explore', { sig, rangeMs: undefined, fromMs, toMs, atMs: Math.floor(incident.startMs) })
  return (
    <section className="incident-evidence" aria-labelledby="evidence">
      <header className="section-head">
        <h2 id="evidence" className="panel-title">
          The signal of the rule
        </h2>
        <Link href={raw}>All samples of this window</Link>
      </header>
      <AnswerState answer={answer} panels={queries.length} />
      <ChartGrid charts={charts} />
    </section>
  )
}

/** The query of a signal for all devices of its kind: the siblings are what the device is compared with. */
function withSiblings({ metric, function: fn, matchers = [] }: Hint['evidence'][number]): MetricQuery {
  return { metric, function: fn, matchers: matchers.filter(({ label }) => KEPT_LABELS.has(label)) }
}

/** The chart of a signal. The device stands first, in the colour of its family; its siblings are a herd. */
function specOf(
  lane: ExplorerLane,
  {
    cause,
    at,
    marks,
    title,
    isSimulated,
  }: {
    readonly cause: Hint | undefined
    /** Place of the signal in the evidence. */
    readonly at: number
    readonly marks: IncidentMarks
    readonly title: string
    readonly isSimulated: boolean
  },
): ChartSpec {
  const matchers = cause?.evidence[at]?.matchers ?? []
  const isOwn = ({ labels }: ExplorerLane['series'][number]) =>
    matchers.every(({ label, op, value }) => op !== '=' || (labels[label] ?? '') === value)
  const own = lane.series.filter(isOwn)
  const others = lane.series.filter((one) => !own.includes(one) && one.isSimulated === isSimulated)
  const limit = cause && own.some(({ member }) => hasValue(member.values, cause)) ? cause.limit : undefined
  return {
    ...lane.spec,
    id: `evidence-${at}-${lane.spec.id}`,
    title,
    caption: [own.length > 0 && others.length > 0 ? `${own[0]?.member.label} among its siblings` : '', lane.spec.title]
      .filter(Boolean)
      .join(' · '),
    members: [...own, ...others].map(({ member }) => member),
    isAlike: true,
    marks,
    ...(limit === undefined ? {} : { limits: [{ value: limit, label: 'limit' }] }),
  }
}

/** Whether a chart shows the number of the sentence: only then the limit of the rule is one of its values. */
function hasValue(values: Float64Array, { value }: Hint): boolean {
  return values.some((one) => Math.abs(one - value) <= SAME_SHARE * Math.abs(value))
}
