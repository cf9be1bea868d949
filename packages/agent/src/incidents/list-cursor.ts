import { SondeError } from '@sonde/sdk'
import type { Incident } from '@sonde/sdk/api'

/** A place in a list of incidents. */
export interface ListCursor {
  /** End of the last incident of the answer before; absent if it is open. Unit: milliseconds since the Unix epoch. */
  readonly endMs?: number
  /** Its start, if it is open. */
  readonly startMs?: number
  readonly id: string
}

/** Behind every id. */
const LAST_ID = '~'

/** The cursor of an answer that goes on behind an incident. */
export function cursorBehind({ endMs, startMs, id }: Incident): string {
  return endMs === undefined ? `open:${startMs}:${id}` : `${endMs}:${id}`
}

/** The cursor of an answer that goes on with incidents that ended before a time. */
export function cursorBefore(endMs: number): string {
  return `${endMs}:${LAST_ID}`
}

/** @throws SondeError `QRY_FORM` if it is no cursor. */
export function readCursor(text: string): ListCursor {
  const match = /^(open:)?(\d{1,16}(?:\.\d{1,9})?):(.{1,300})$/.exec(text)
  if (match === null)
    throw new SondeError('QRY_FORM', `cursor is ${JSON.stringify(text.slice(0, 100))}; allowed: next of an answer`)
  const [, open, ms, id = ''] = match
  return open === undefined ? { endMs: Number(ms), id } : { startMs: Number(ms), id }
}

/** Whether an incident is behind a cursor. */
export function isBehind({ startMs, endMs, id }: Incident, cursor: ListCursor): boolean {
  if (cursor.endMs === undefined) {
    if (endMs !== undefined) return true
    return startMs < (cursor.startMs ?? 0) || (startMs === cursor.startMs && id > cursor.id)
  }
  return endMs !== undefined && (endMs < cursor.endMs || (endMs === cursor.endMs && id > cursor.id))
}
