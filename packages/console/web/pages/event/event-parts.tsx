import type { EventAnswer } from '@sonde/sdk/api'
import { Link } from 'wouter'
import { incidentPath } from '../../devices/incident-path.ts'
import { formatClock, formatDuration } from '../../format/time.ts'
import { usePageState } from '../../state/time-window.ts'

/** The position of a part in its event, with links to its neighbours. Empty for an event with a single part. */
export function EventParts({ answer }: { readonly answer: EventAnswer }) {
  const { event, node, whole, parts } = answer
  const page = usePageState()
  if (whole === undefined || parts.length < 2) return null
  const at = parts.findIndex(({ id }) => id === event.id)
  const zone = page.url.tz ?? 'utc'
  const lasted = whole.endMs === undefined ? 'still open' : `lasted ${formatDuration(whole.endMs - whole.startMs)}`
  const ways = [
    { part: parts[at - 1], word: 'Part before' },
    { part: parts[at + 1], word: 'Next part' },
  ]
  return (
    <>
      <span>
        Part {at + 1} of {parts.length}; the event began {formatClock(whole.startMs, zone)}, {lasted}.
      </span>
      {ways.map(({ part, word }) => part && <WayTo key={word} word={word} id={`${node}:${part.id}`} />)}
    </>
  )
}

function WayTo({ word, id }: { readonly word: string; readonly id: string }) {
  const page = usePageState()
  return <Link href={page.hrefTo(incidentPath(id), { fromMs: undefined, toMs: undefined })}>{word}</Link>
}
