import type { AppState } from '@sonde/sdk/api'
import { Link } from 'wouter'
import { useScraper } from '../../api/scraper.ts'
import { StateMark } from '../../components/state-mark.tsx'
import { usePageState } from '../../state/time-window.ts'
import { telemetryMark } from '../scraper-words.ts'

/** The state of GPU telemetry, which leads to its switch. */
export function TelemetryBadge({ state }: { readonly state: AppState }) {
  const page = usePageState()
  const { data } = useScraper()
  if (data === undefined) return null
  const mark = telemetryMark(data, state)
  return (
    <Link className="badge telemetry-badge" href={page.hrefTo('/settings')} title={data.summary}>
      <span className="telemetry-name">Telemetry</span> <StateMark {...mark} />
    </Link>
  )
}
