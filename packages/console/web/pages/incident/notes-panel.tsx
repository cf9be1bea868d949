import type { IncidentAnswer } from '@sonde/sdk/api'
import { type FormEvent, useState } from 'react'
import { addNote } from '../../api/incidents.ts'
import { Panel } from '../../components/panel.tsx'
import { countText } from '../../format/number.ts'
import { formatDateTime, zoneName } from '../../format/time.ts'
import { usePageState } from '../../state/time-window.ts'

/** Longest note that the server takes. Unit: characters. */
const NOTE_LENGTH_MAX = 2000
/** The newest notes, which are shown at first, so that the field below them stays close. */
const SHOWN_COUNT = 5

/** What people wrote on an incident, and a field for more. */
export function NotesPanel({ answer: { incident, notes } }: { readonly answer: IncidentAnswer }) {
  const zone = usePageState().url.tz ?? 'utc'
  const [text, setText] = useState('')
  const [fault, setFault] = useState('')
  const [isSending, setSending] = useState(false)
  const [isWhole, setWhole] = useState(false)
  const shown = isWhole ? notes : notes.slice(-SHOWN_COUNT)
  const send = async (event: FormEvent): Promise<void> => {
    event.preventDefault()
    setSending(true)
    try {
      await addNote(incident.id, text)
      setText('')
      setFault('')
    } catch (error) {
      setFault((error as Error).message)
    }
    setSending(false)
  }
  return (
    <Panel id="notes" title="Notes" caption={notes.length === 0 ? '' : countText(notes.length, 'note')}>
      {notes.length > SHOWN_COUNT && (
        <p className="panel-note">
          <button type="button" className="button" aria-expanded={isWhole} onClick={() => setWhole(!isWhole)}>
            {isWhole ? `Show the newest ${SHOWN_COUNT}` : `Show all ${notes.length} notes`}
          </button>
        </p>
      )}
      {notes.length > 0 && (
        <ul className="incident-notes">
          {shown.map(({ atMs, who, text: said }) => (
            <li key={`${atMs} ${said}`}>
              <p className="incident-note-head">
                {who || 'somebody'}, {formatDateTime(atMs, zone)} {zoneName(zone, atMs)}
              </p>
              <p className="incident-note-text">{said}</p>
            </li>
          ))}
        </ul>
      )}
      <form className="incident-note-form" onSubmit={(event) => void send(event)}>
        <textarea
          className="input"
          aria-label="New note"
          rows={2}
          maxLength={NOTE_LENGTH_MAX}
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
        />
        <button type="submit" className="button" disabled={isSending || text.trim() === ''}>
          Add note
        </button>
        <p role="status" className="incident-note-fault">
          {fault}
        </p>
      </form>
    </Panel>
  )
}
