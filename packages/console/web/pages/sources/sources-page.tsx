import { useMemo } from 'react'
import { useNode, useSeriesOfTypes, useSources, useTypes } from '../../api/resources.ts'
import { useTense } from '../../api/stale.ts'
import { Outlines } from '../../components/answer-state.tsx'
import { Empty } from '../../components/empty.tsx'
import { PanelBoundary } from '../../components/error-boundary.tsx'
import { Facts } from '../../components/facts.tsx'
import { Headline } from '../../components/headline.tsx'
import { PageHead } from '../../components/page-head.tsx'
import { usePageState } from '../../state/time-window.ts'
import { usePageTitle } from '../use-page-title.ts'
import { AbsenceTable } from './absence-table.tsx'
import { groupAbsences } from './absences.ts'
import { ClientTable } from './client-table.tsx'
import { SELF_PANELS } from './self-charts.ts'
import { SelfCharts } from './self-charts-grid.tsx'
import { SinkTable } from './sink-table.tsx'
import { SourceTable } from './source-table.tsx'
import { sourcesHeadline } from './sources-headline.ts'
import { storeFacts } from './store-facts.ts'

/** The page of all sources: records read, missing values with reasons, and the fate of every record. */
export function SourcesPage() {
  usePageTitle('Sources')
  const page = usePageState()
  const { data, error } = useSources()
  const tense = useTense()
  const { data: node } = useNode()
  const absences = useAbsences()
  return (
    <>
      <PageHead title="Sources" note={!page.isLive && 'as of now; only the charts are of the window'} />
      {!data && error && (
        <Empty icon="critical" fact="The sources are not known.">
          {error.message}
        </Empty>
      )}
      {data && (
        <>
          <Headline text={sourcesHeadline(data, tense)} moment={page.isLive ? '' : 'Now, not in the window'} />
          <PanelBoundary>
            <SourceTable sources={data.sources} />
          </PanelBoundary>
          <PanelBoundary>
            <ClientTable clients={data.clients} />
          </PanelBoundary>
          {node && <Facts label="Store" facts={storeFacts(node.store, page.url.tz ?? 'utc')} />}
          <PanelBoundary>
            <SinkTable sinks={data.sinks} />
          </PanelBoundary>
          <PanelBoundary>
            <AbsenceTable absences={absences.groups} isReady={absences.isReady} />
          </PanelBoundary>
        </>
      )}
      {!data && !error && <Outlines panels={3} waitsFor="the list of sources" />}
      {/* Tables above the charts would move them when they come. */}
      {(data || error) && (absences.isReady || absences.hasFailed) && (
        <>
          <h2 className="section-title">Sonde itself</h2>
          <SelfCharts panels={SELF_PANELS} />
        </>
      )}
    </>
  )
}

/** Unavailable values in groups. */
function useAbsences() {
  const types = useTypes()
  const names = types.data?.types.filter(({ name }) => !name.startsWith('sonde_')).map(({ name }) => name) ?? []
  const series = useSeriesOfTypes(names)
  const groups = useMemo(() => groupAbsences(series.data?.series ?? []), [series.data])
  const isReady = series.data !== undefined && names.length > 0
  // A server without a source of hardware has nothing that could be absent.
  const hasFailed = (types.error ?? series.error) !== undefined || (types.data !== undefined && names.length === 0)
  return { groups, isReady, hasFailed }
}
