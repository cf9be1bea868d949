import { Link } from 'wouter'
import { StateMark } from '../components/state-mark.tsx'
import { usePageState } from '../state/time-window.ts'
import { type AffectedBy, affectedWords } from './affected.ts'
import { incidentPath } from './incident-path.ts'

/** The mark of a device that shows the effect of incidents, with a link to the worst of them; nothing without any. */
export function AffectedMark({
  by,
  iconOnly = false,
}: {
  readonly by: AffectedBy | undefined
  readonly iconOnly?: boolean
}) {
  const page = usePageState()
  if (by === undefined) return null
  const words = affectedWords(by)
  return (
    <Link
      className="affected-mark"
      href={page.hrefTo(incidentPath(by[0].id), { fromMs: undefined, toMs: undefined })}
      title={words}
      aria-label={words}
    >
      <StateMark tone="affected" word="Affected" iconOnly={iconOnly} />
    </Link>
  )
}
