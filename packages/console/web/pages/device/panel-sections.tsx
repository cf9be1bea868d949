import type { LatestSeries, ListedType } from '@sonde/sdk/api'
import { Fragment, useEffect, useMemo } from 'react'
import type { DeviceInfo } from '../../api/devices.ts'
import { useComparedColumns } from '../../api/use-speed.ts'
import { ChartGrid } from '../../chart/chart-grid.tsx'
import { type Fact, Facts } from '../../components/facts.tsx'
import { goneWords } from '../../devices/device-sentence.ts'
import { allHints } from '../../devices/moment-hints.ts'
import { ABSENT } from '../../format/number.ts'
import { usePageState } from '../../state/time-window.ts'
import { useMarks } from '../device-charts-grid.tsx'
import { useKernelMarks } from '../use-kernel-marks.ts'
import { useMoment } from '../use-moment.ts'
import { useMomentHints } from '../use-moment-hints.ts'
import type { DeviceReadings } from './device-readings.ts'
import type { PanelSection } from './panel.ts'
import { panelQueries } from './panel-queries.ts'
import { devicePanels } from './panels.ts'

/** A section with facts above its panels. */
export interface DeviceSection extends PanelSection {
  readonly facts?: (readings: DeviceReadings) => readonly Fact[]
}

/** Links to the sections of a long page; nothing if the page has a single section. */
export function SectionLinks({ sections }: { readonly sections: readonly PanelSection[] }) {
  if (sections.length < 2) return null
  return (
    <nav className="section-links" aria-label="Sections of this page">
      {sections.map(({ id, title }) => (
        <a key={id} href={`#${id}`}>
          {title}
        </a>
      ))}
    </nav>
  )
}

/** The charts of a device, in sections. */
export function PanelSections({
  device,
  subject,
  sections,
  readings,
  latest,
  catalogue,
}: {
  readonly device: DeviceInfo
  readonly subject: DeviceInfo
  readonly sections: readonly DeviceSection[]
  readonly readings: DeviceReadings
  readonly latest: readonly LatestSeries[] | undefined
  readonly catalogue: readonly ListedType[]
}) {
  const page = usePageState()
  const { hints, ended } = useMomentHints(useMoment())
  const queries = useMemo(
    () =>
      panelQueries(
        device,
        sections.flatMap(({ panels }) => panels),
      ),
    [device, sections],
  )
  const answer = useComparedColumns(queries, page)
  const knownMetrics = useMemo(
    () => new Set(catalogue.flatMap(({ fields }) => fields.map(({ metric }) => metric))),
    [catalogue],
  )
  const concerned = useMemo(
    () => allHints({ hints, ended }).filter(({ device, affected }) => [device, ...affected].includes(subject.id)),
    [hints, ended, subject.id],
  )
  const ofHints = useMarks(concerned)
  const ofKernel = useKernelMarks(subject)
  const marks = useMemo(() => [...ofHints, ...ofKernel], [ofHints, ofKernel])
  const gone = goneWords(device, page.url.tz ?? 'utc')
  const charts = useMemo(() => {
    const context = { latest, knownMetrics, marks, goneWords: gone }
    return sections.map(({ panels }) => devicePanels(device, panels, answer, context))
  }, [device, sections, answer, latest, knownMetrics, marks, gone])
  useSectionOfAddress()
  const beside = charts.flat()
  return sections.map(({ id, title, facts: factsOf }, at) => {
    const facts = factsOf?.(readings) ?? []
    return (
      <Fragment key={id}>
        {title && (
          <h2 id={id} className="section-title" tabIndex={-1}>
            {title}
          </h2>
        )}
        {facts.some(({ value }) => value !== ABSENT) && <Facts label={`${title} now`} facts={facts} />}
        <ChartGrid title={title} charts={charts[at] ?? []} beside={beside} />
      </Fragment>
    )
  })
}

/** Shows the section that the address names. The browser looked for it before the sections were there. */
function useSectionOfAddress(): void {
  useEffect(() => {
    const id = decodeURIComponent(window.location.hash.slice(1))
    if (id !== '') document.getElementById(id)?.scrollIntoView()
  }, [])
}
