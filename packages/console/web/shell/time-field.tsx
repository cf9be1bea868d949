import { INCIDENT_MARGIN_MS } from '@sonde/sdk/api'
import { type FormEvent, useState } from 'react'
import { serverNowMs } from '../state/clock.ts'
import { parseMoment } from '../state/parse-moment.ts'
import { usePageState } from '../state/time-window.ts'

/** A field that goes to a time: `14:03`, `yesterday 9:10`, or an ISO time. */
export function TimeField() {
  const page = usePageState()
  const [text, setText] = useState('')
  const [isWrong, setWrong] = useState(false)
  const go = (event: FormEvent): void => {
    event.preventDefault()
    const atMs = parseMoment(text, serverNowMs(), page.url.tz ?? 'utc')
    setWrong(atMs === undefined)
    if (atMs === undefined) return
    page.zoom(atMs - INCIDENT_MARGIN_MS, atMs + INCIDENT_MARGIN_MS)
    setText('')
  }
  return (
    <form className="time-field" onSubmit={go}>
      <input
        className="input num"
        aria-label="Go to a time, such as 14:03, yesterday 9:10 or an ISO time"
        aria-invalid={isWrong || undefined}
        placeholder="e.g. 14:03"
        value={text}
        onChange={(event) => {
          setText(event.currentTarget.value)
          setWrong(false)
        }}
      />
    </form>
  )
}
